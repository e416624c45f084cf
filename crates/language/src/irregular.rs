//! Irregular forms of words, which stemmers leave apart: "paid" and "pay".

use std::sync::LazyLock;

use whatlang::Lang;

use crate::language::Language;
use crate::word_lists::{Groups, groups};

/// The forms of verbs, in groups that are separated by `|`. Forms that are as often another word ("left", "saw") are omitted.
const GROUPS: &[(Lang, &str)] = &[
    (
        Lang::Eng,
        "pay paid|buy bought|sell sold|send sent|spend spent|lend lent|bring brought|catch caught|teach taught|think thought|\
         lose lost|break broke broken|steal stole stolen|speak spoke spoken|choose chose chosen|freeze froze frozen|\
         wake woke woken|write wrote written|drive drove driven|ride rode ridden|eat ate eaten|fly flew flown|\
         grow grew grown|know knew known|throw threw thrown|blow blew blown|draw drew drawn|wear wore worn|tear tore torn|\
         take took taken|give gave given|fall fell fallen|forget forgot forgotten|hide hid hidden|hold held|keep kept|\
         sleep slept|build built|rebuild rebuilt|burn burnt|learn learnt|tell told|stick stuck|swim swam swum|\
         begin began begun|drink drank drunk|run ran|win won|become became|shoot shot|understood understand|\
         withdraw withdrew withdrawn|overpay overpaid|prepay prepaid|repay repaid|feed fed|dig dug|\
         hang hung|swear swore sworn|bite bit bitten|seek sought|fight fought|child children|\
         man men|woman women|foot feet|tooth teeth|mouse mice|wife wives|knife knives",
    ),
    (
        Lang::Deu,
        "verlieren verliert verlor verloren|stehlen stiehlt gestohlen|brechen bricht gebrochen|schließen schließt schloss \
         geschlossen|anrufen rufen angerufen|finden fand gefunden|nehmen nimmt nahm genommen|geben gibt gab gegeben|\
         fahren fährt fuhr gefahren|schreiben schrieb geschrieben|sprechen spricht gesprochen|\
         überweisen überwies überwiesen|einladen lädt eingeladen|gelten gilt galt|laufen läuft gelaufen|\
         verfallen verfällt verfiel|entfallen entfällt|halten hält gehalten|tragen trägt getragen|essen isst gegessen|\
         lesen liest gelesen|sehen sieht gesehen|vergessen vergisst|helfen hilft geholfen|sterben stirbt gestorben|\
         gewinnen gewonnen|beginnen beginnt begann begonnen|ziehen zog gezogen|umziehen umgezogen|bieten bot geboten|\
         verbieten verboten|fliegen flog geflogen|frieren gefroren|bringen brachte gebracht|denken gedacht|kennen gekannt|\
         gehen ging gegangen|stehen stand gestanden|kommen kam gekommen|bleiben blieb geblieben|leihen lieh geliehen|\
         ausleihen ausgeliehen|steigen stieg gestiegen|unterschreiben unterschrieben|waschen wäscht gewaschen|\
         lassen lässt gelassen|treffen trifft getroffen|werfen wirft geworfen|wegwerfen weggeworfen|erwerben erwirbt erworben",
    ),
    (
        Lang::Nld,
        "verliezen verliest verloor verloren|stelen steelt gestolen|breken gebroken|sluiten sluit sloot gesloten|\
         overlijden overleden|schrijven schreef geschreven|kiezen koos gekozen|krijgen kreeg gekregen|vinden vond gevonden|\
         geven gaf gegeven|nemen nam genomen|kopen kocht gekocht|verkopen verkocht|brengen bracht gebracht|lopen liep gelopen|\
         rijden reed gereden|vergeten vergat|beginnen begon begonnen|sterven gestorven|lenen geleend|eten at gegeten|\
         spreken sprak gesproken|zenden gezonden|wassen gewassen|vallen viel gevallen|vervallen vervalt verviel|bieden bood geboden",
    ),
    (
        Lang::Spa,
        "romper roto|abrir abierto|escribir escrito|inscribir inscrito|devolver devuelve devuelto|volver vuelve vuelto|\
         morir muere muerto|ver visto|cubrir cubierto|cerrar cierra cierran|empezar empieza|comenzar comienza|perder pierde|\
         pedir pide|costar cuesta cuestan|encontrar encuentra|mover mueve|mostrar muestra|probar prueba|contar cuenta|\
         imprimir impreso|freír frito|servir sirve|repetir repite|elegir elige",
    ),
    (
        Lang::Fra,
        "ouvrir ouvert ouverte|offrir offert offerte|couvrir couvert couverte|perdre perdu perdue|recevoir reçu reçoit|rendre rendu|\
         vendre vendu|mourir mort|prendre pris prend|mettre mis|inscrire inscrit|écrire écrit|payer paie paye|envoyer envoie|\
         venir vient venu|tenir tient tenu|devoir doit dû|boire bu|lire lu|conduire conduit|construire construit|détruire détruit|\
         peindre peint|éteindre éteint|joindre joint|acheter achète|appeler appelle|jeter jette",
    ),
    (
        Lang::Ita,
        "aprire aperto aperta|chiudere chiuso chiusa|perdere perso perduto|rompere rotto rotta|scrivere scritto|iscrivere iscritto|\
         spendere speso|prendere preso|morire morto|rendere reso|offrire offerto|leggere letto|mettere messo|decidere deciso|\
         scegliere scelto|chiedere chiesto|rispondere risposto|vedere visto|correre corso|muovere mosso|accendere acceso|spegnere spento",
    ),
];

static KNOWN: LazyLock<Groups> = LazyLock::new(|| groups(GROUPS));

/// The analysed forms of the other forms of an irregular word, which its stem does not have: for "paid", that of "pay". Empty for
/// regular words.
///
/// # Examples
///
/// ```
/// use cicerone_language::{Language, inflections};
///
/// assert_eq!(inflections("paid", Language::ENGLISH), ["pay"]);
/// assert!(inflections("refund", Language::ENGLISH).is_empty());
/// ```
pub fn inflections(form: &str, language: Language) -> &'static [String] {
    let known = KNOWN.get(&language.0);
    known.and_then(|known| known.get(form)).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, inflections};
    use crate::language::Language;
    use crate::word_lists::{check_forms, forms};

    #[test]
    fn forms_of_a_word_stand_for_each_other() {
        let of = |word: &str, code: &str| {
            let language = Language::from_code(code).unwrap();
            let form = forms(word, language.0).remove(0);
            inflections(&form, language).to_vec()
        };
        assert!(of("eaten", "eng").contains(&"eat".to_owned()));
        assert!(of("eat", "eng").contains(&"ate".to_owned()));
        let verfallen = forms("verfallen", Language::from_code("deu").unwrap().0);
        assert!(of("verfällt", "deu").contains(&verfallen[0]));
        assert!(of("eaten", "deu").is_empty());
    }

    #[test]
    fn every_word_of_the_lists_has_a_form() {
        GROUPS.iter().for_each(|(language, words)| check_forms(words, *language));
    }
}
