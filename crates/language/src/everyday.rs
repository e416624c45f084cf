//! The everyday words of questions: those that mean the same as others, and those that mean little.

use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};
use whatlang::Lang;

use crate::language::Language;
use crate::word_lists::{Groups, forms, groups};

/// Words of a language that mean the same, or nearly, when customers, guests and employees ask: groups, separated by `|`. A word
/// before `>` only stands for those behind it: a question about a cat may mean the rule about pets.
const GROUPS: &[(Lang, &str)] = &[
    (
        Lang::Eng,
        "broken damaged defective faulty|fix repair mend|fast quick quickly soon|buy purchase order|\
         cost price fee charge rate|cheap discount reduction reduced|cancel terminate void revoke|delete remove erase|\
         refund reimburse reimbursement|send ship deliver dispatch|phone telephone mobile|car vehicle automobile|\
         bike bicycle|kid child|cat > pet animal|dog > pet animal|pet animal|doctor physician|start begin commence|\
         end finish stop expire|help support assistance|job employment vacancy career position|salary wage|\
         boss manager supervisor|holiday vacation|sick ill illness|password passcode|invoice bill receipt|\
         flat apartment|rent hire|teacher instructor lecturer|exam examination|tries > attempt resit|retry attempt|\
         trash garbage waste rubbish bin|photo picture image|movie film|lawyer attorney solicitor|\
         luggage baggage suitcase|suitcase > baggage luggage|big large|change modify edit alter|choose select pick|quit exit|\
         error fault failure|company business firm|staff employee personnel|customer client|guest visitor|\
         trip travel journey|meal breakfast lunch dinner|free complimentary|allowed permitted|\
         forbidden prohibited banned|needed required necessary mandatory compulsory|parcel package|late delay delayed|\
         lost missing|stolen theft|student pupil|toilet restroom bathroom|elevator lift|\
         disabled wheelchair accessible accessibility|pensioner senior retired|founded established|\
         charity non-profit nonprofit|motorbike motorcycle|laptop > computer|sofa couch furniture|\
         maximum max limit|minimum min|default standard|two 2|three 3|four 4|five 5|six 6|seven 7|eight 8|\
         nine 9|ten 10|twelve 12|attach attachment|sign-in login|wifi internet|return returns exchange|address > contact location|telephone > contact|wet damp moist|throw > dispose disposal",
    ),
    (
        Lang::Deu,
        "kaputt defekt beschädigt|reparieren reparatur|kaufen bestellen erwerben|preis kosten gebühr|\
         billig günstig rabatt ermäßigt ermäßigung|kündigen stornieren widerrufen|löschen entfernen|\
         liefern versenden zustellen verschicken|telefon handy anrufen|auto fahrzeug pkw|fahrrad rad|kind minderjährige|\
         hund > tier haustier|katze > tier haustier|haustier tier|müll abfall|arzt ärztin|anfangen beginnen starten|\
         rentner senior|rechnung quittung beleg|paket sendung|zurückgeben zurücksenden rückgabe rücksendung umtauschen umtausch|\
         erstattung rückerstattung|mitarbeiter angestellte personal|urlaub ferien|krank krankheit|gehalt lohn|\
         wohnung zimmer|erlaubt gestattet zulässig|verboten untersagt|ändern bearbeiten|fehler störung problem|\
         foto bild|größe abmessungen maße|kennwort passwort|anmeldung login|nötig erforderlich notwendig|spät verspätung|\
         verloren verlust|gestohlen diebstahl|student studierende|toilette wc|aufzug lift fahrstuhl|\
         behindert rollstuhl barrierefrei|gegründet gründung|chef vorgesetzte leitung|job arbeit stelle|maximal max höchstens|mindestens minimum|rabatt nachlass|\
         adresse anschrift|adresse > kontakt anfahrt|anschrift > kontakt anfahrt|\
         zwei 2|drei 3|vier 4|fünf 5|sechs 6|sieben 7|acht 8|neun 9|zehn 10|zwölf 12",
    ),
    (
        Lang::Spa,
        "roto dañado defectuoso estropeado|reparar arreglar reparación|comprar adquirir pedir|precio coste tarifa|\
         barato descuento rebaja bonificación|cancelar anular|eliminar borrar|enviar mandar entregar|teléfono móvil celular|\
         coche vehículo automóvil|bicicleta bici|niño menor infantil|perro > animal mascota|gato > animal mascota|\
         mascota animal|basura residuo|tirar depositar desechar|médico doctor|empezar comenzar|\
         jubilado pensionista mayor|factura recibo|paquete envío|devolver devolución|reembolso|empleado personal|\
         enfermo enfermedad|sueldo salario|piso vivienda apartamento|permitido autorizado|prohibido|cambiar modificar|\
         error fallo problema|foto imagen|tamaño medida|necesario obligatorio imprescindible|tarde retraso|\
         perdido pérdida|robado robo|estudiante alumno|baño aseo|ascensor elevador|multa sanción|\
         permiso licencia autorización|obra reforma|quedarse estancia permanecer|trabajo empleo|sofá mueble|dirección > contacto ubicación|máximo máx|mínimo mín|\
         dos 2|tres 3|cuatro 4|cinco 5|seis 6|siete 7|ocho 8|nueve 9|diez 10|doce 12",
    ),
    (
        Lang::Fra,
        "cassé abîmé endommagé défectueux|réparer réparation|acheter commander|prix tarif coût|\
         réduction remise rabais|annuler résilier|supprimer effacer|livrer expédier envoyer|téléphone portable|\
         voiture véhicule|vélo bicyclette|enfant mineur|chien > animal|chat > animal|déchet ordure poubelle|\
         médecin docteur|commencer débuter|retraité senior|facture reçu|colis paquet|rendre retourner renvoyer retour|\
         rembourser remboursement|employé personnel|vacances congé|malade maladie|salaire rémunération|\
         logement appartement|autorisé permis|interdit défendu|modifier changer|erreur panne problème|photo image|\
         taille dimension|nécessaire obligatoire|retard tard|perdu perte|volé vol|étudiant élève|toilettes wc|\
         ascenseur élévateur|emploi travail poste|cours atelier formation|adresse > contact accès|maximum max maximal|minimum minimal|\
         deux 2|trois 3|quatre 4|cinq 5|six 6|sept 7|huit 8|neuf 9|dix 10|douze 12",
    ),
    (
        Lang::Nld,
        "kapot defect stuk beschadigd|repareren reparatie herstellen|kopen bestellen aanschaffen|prijs kosten tarief|\
         goedkoop korting|annuleren opzeggen|verwijderen wissen|bezorgen leveren verzenden|telefoon mobiel bellen|\
         auto voertuig|fiets rijwiel|kind minderjarige|hond > huisdier dier|kat > huisdier dier|afval vuilnis|arts dokter|\
         beginnen starten|rekening factuur bon|pakket zending|retourneren terugsturen ruilen|terugbetaling|\
         medewerker personeel|vakantie verlof|ziek ziekte|salaris loon|toegestaan|verboten|wijzigen veranderen aanpassen|\
         fout storing probleem|foto afbeelding|maat afmeting|nodig verplicht|laat vertraging|baan werk werkgever|adres > contact|maximaal max maximum|\
         twee 2|drie 3|vier 4|vijf 5|zes 6|zeven 7|acht 8|negen 9|tien 10|twaalf 12",
    ),
    (
        Lang::Ita,
        "rotto danneggiato difettoso|riparare riparazione|comprare acquistare ordinare|prezzo costo tariffa|\
         sconto riduzione|annullare disdire cancellare|eliminare cancellare|spedire consegnare inviare|\
         telefono cellulare|macchina auto veicolo|bicicletta bici|bambino minore|cane > animale|gatto > animale|\
         rifiuto spazzatura|medico dottore|iniziare cominciare|pensionato anziano|fattura ricevuta|pacco spedizione|\
         restituire reso|rimborso|dipendente personale|ferie vacanza|malato malattia|stipendio salario|\
         appartamento alloggio|permesso consentito|vietato proibito|modificare cambiare|errore guasto problema|\
         foto immagine|misura dimensione|necessario obbligatorio|ritardo tardi|perso smarrito|rubato furto|indirizzo > contatti|massimo max|minimo min|\
         due 2|tre 3|quattro 4|cinque 5|sei 6|sette 7|otto 8|nove 9|dieci 10|dodici 12",
    ),
];

/// Words that say little about what is asked for, besides the stop words.
const LIGHT: &[(Lang, &str)] = &[
    (
        Lang::Eng,
        "make get take give go come want need know tell happen let keep put think like way thing possible lot really \
         actually exactly still already ever maybe able number amount kind sort moment currently back find use using",
    ),
    (
        Lang::Deu,
        "machen bekommen kriegen nehmen geben gehen kommen möchten brauchen wissen sagen passieren lassen tun \
         eigentlich wirklich genau überhaupt möglich lange lang gerade aktuell moment momentan jetzt anzahl",
    ),
    (
        Lang::Spa,
        "hacer tener obtener tomar dar ir venir querer necesitar saber decir pasar dejar poner posible cosa número cantidad tipo momento",
    ),
    (
        Lang::Fra,
        "faire avoir obtenir prendre donner aller venir vouloir besoin savoir dire passer laisser mettre possible \
         chose nombre type sorte moment",
    ),
    (
        Lang::Nld,
        "maken krijgen nemen geven gaan komen willen nodig weten zeggen gebeuren laten doen mogelijk welk aantal bedrag soort moment lang",
    ),
    (
        Lang::Ita,
        "fare avere ottenere prendere dare andare venire volere bisogno sapere dire succedere lasciare mettere \
         possibile cosa numero tipo momento",
    ),
];

static EQUIVALENTS: LazyLock<Groups> = LazyLock::new(|| groups(GROUPS));

static LIGHT_FORMS: LazyLock<HashMap<Lang, HashSet<String>>> = LazyLock::new(|| {
    LIGHT
        .iter()
        .map(|(language, words)| (*language, forms(words, *language).into_iter().collect()))
        .collect()
});

/// The analysed forms of words that mean nearly the same as the one with the analysed form `form` in questions of everyday life:
/// for "broken", those of "damaged" and "defective". Empty for most words and languages.
///
/// # Examples
///
/// ```
/// use cicerone_language::{Language, equivalents};
///
/// assert_eq!(equivalents("dog", Language::ENGLISH), ["pet", "anim"]);
/// assert!(equivalents("lighthous", Language::ENGLISH).is_empty());
/// ```
pub fn equivalents(form: &str, language: Language) -> &'static [String] {
    let known = EQUIVALENTS.get(&language.0);
    known.and_then(|known| known.get(form)).map_or(&[], Vec::as_slice)
}

/// Whether the word with this analysed form says little about what a question asks for, without being a stop word: "make", "get".
pub fn is_light(form: &str, language: Language) -> bool {
    LIGHT_FORMS.get(&language.0).is_some_and(|light| light.contains(form))
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, LIGHT, equivalents, is_light};
    use crate::language::Language;
    use crate::word_lists::{check_forms, forms};

    #[test]
    fn words_of_a_group_stand_for_each_other_and_those_before_an_arrow_for_the_others() {
        let of = |word: &str, language: &str| {
            let language = Language::from_code(language).unwrap();
            let form = forms(word, language.0).remove(0);
            equivalents(&form, language).to_vec()
        };
        assert!(of("broken", "eng").contains(&"damag".to_owned()));
        assert!(of("damaged", "eng").contains(&"broken".to_owned()));
        assert!(of("cats", "eng").contains(&"pet".to_owned()));
        assert!(!of("pet", "eng").contains(&"cat".to_owned()));
        assert!(!of("cassé", "fra").is_empty() && of("broken", "fra").is_empty());
    }

    #[test]
    fn light_words_are_known_in_their_forms() {
        let of = |form: &str| is_light(form, Language::ENGLISH);
        assert!(of("make") && of("get") && !of("claim"));
    }

    #[test]
    fn every_word_of_the_lists_has_a_form() {
        GROUPS.iter().chain(LIGHT).for_each(|(language, words)| check_forms(words, *language));
    }
}
