//! Stop words that the public lists lack: words of questions, and function words of scripts without
//! spaces.

use whatlang::Lang;

/// Further stop words, separated by spaces.
pub(super) fn spaced(language: Lang) -> &'static str {
    match language {
        Lang::Eng => {
            "could would may might must shall please also us upon much many let lets tell hi hello \
             hey hay thanks thank ok okay yes anyone someone something anything want wants wanted \
             get gets getting got know does whats hows wheres whos im ive id ill dont doesnt cant \
             cannot isnt arent whether within without via per etc pls plz vs versus \
             really"
        }
        Lang::Spa => {
            "cómo cuándo cuánto cuánta cuántos cuántas cuál cuáles quién quiénes dónde puedo puede \
             pueden podría podrían podemos debo debe quiero quisiera necesito hacer hola gracias favor \
             según cada aunque mediante tras"
        }
        Lang::Fra => {
            "comment quand combien quel quelle quels quelles où pourquoi quoi puis peut peux peuvent \
             pouvez pouvons dois doit devez faut veux voudrais faire est-ce bonjour merci plaît si plus cette cet ceux celle celui leurs sans sous \
             entre vers chez très aussi comme donc lorsque puisque jusque quelqu presqu"
        }
        Lang::Deu => {
            "bitte danke hallo wieviel wieviele viel viele gibt gibts geht gehts möchte darf darfst dürfen \
             dürft wer wem wen wessen welch mehr wann warum wieso weshalb wozu woher wohin womit habt \
             seid müssen müsst braucht brauche brauchen mal schon eigentlich jemand dauert dauern"
        }
        Lang::Por => {
            "quanto quanta quantos quantas onde quais posso pode podem podemos devo deve quero gostaria \
             preciso precisa fazer olá obrigado obrigada \
             favor sobre cada"
        }
        Lang::Ita => {
            "come quando quanto quanta quanti quante quale quali dove posso può possono possiamo potete \
             puoi devo deve voglio vorrei fare ciao grazie favore"
        }
        Lang::Nld => {
            "hoe hoeveel waar waarom wanneer welke wie kan kunt kunnen moet moeten mag mogen hebt jullie duurt \
             graag bedankt hallo alsjeblieft"
        }
        Lang::Rus => {
            "сколько какие какое каком каких какова каково почему зачем кто кого кому который которая \
             которое которые которых могу можем можно нужно надо хочу пожалуйста спасибо здравствуйте это эти также является являются"
        }
        Lang::Ara => "كم أين متى كيف لماذا ماهي ماهو تم كان كانت يكون تكون كما أي خلال",
        Lang::Hin => {
            "क्या क्यों कैसे कब कहाँ कहां कौन कौनसा कितने कितनी कितना किसने किसे हैं है था थी थे हूँ हो में मैं \
             से को का की के ने पर और या भी तो ही यह वह ये वे गया गई गए"
        }
        Lang::Tur => {
            "kaç nerede nasıl niçin neden hangi kim kimin kime zaman olan olarak bir bu var mı mi mu \
             mü tarafından kadar"
        }
        Lang::Pol => {
            "ile jak gdzie kiedy dlaczego kto który która które mogę można muszę macie chcę proszę dziękuję"
        }
        Lang::Vie => "gì nào đâu ai bao nhiêu sao thế khi",
        Lang::Ell => {
            "τι πώς πού πότε ποιος ποια ποιο ποιοι ποιες ποιον ποιων πόσο πόσα πόσοι πόσες γιατί είναι \
             ήταν στο στη στην στον στα στις στους και του της των τον την το τα οι ο η ένα μια ένας"
        }
        _ => "",
    }
}

/// Phrases whose grams are all stop words. The first phrase decides the length of the grams.
pub(super) fn unspaced(language: Lang) -> &'static [&'static str] {
    match language {
        Lang::Cmn => &[
            "什么",
            "是什么",
            "甚麼",
            "是甚麼",
            "什麼",
            "是什麼",
            "多少",
            "为什么",
            "為什麼",
            "哪些",
            "哪个",
            "哪個",
            "哪里",
            "哪裡",
            "哪一",
            "如何",
            "怎么",
            "怎麼",
            "怎样",
            "怎樣",
            "是谁",
            "谁是",
            "是否",
            "可以",
            "我们",
            "我們",
            "你们",
            "你們",
            "他们",
            "他們",
            "这个",
            "這個",
            "那个",
            "那個",
            "一个",
            "一個",
            "因为",
            "因為",
            "所以",
            "但是",
            "以及",
            "或者",
            "还是",
            "還是",
            "请问",
            "請問",
            "的是",
            "有多",
            "是哪",
            "于什",
            "了什",
            "的什",
            "何时",
            "何時",
            "几个",
            "幾個",
        ],
        Lang::Jpn => &[
            "ですか",
            "ますか",
            "ました",
            "でした",
            "している",
            "されている",
            "された",
            "これは",
            "それは",
            "どのよう",
            "どのように",
            "どこで",
            "どこに",
            "いつ",
            "なに",
            "何です",
            "何が",
            "誰が",
            "ください",
            "について",
            "において",
            "によって",
            "として",
            "という",
            "とは",
            "のは",
            "には",
            "では",
            "から",
            "まで",
            "ません",
            "できます",
            "ありますか",
            "することが",
            "なぜ",
            "いくら",
            "のです",
            "たい",
        ],
        Lang::Kor => &[
            "무엇",
            "무엇인",
            "무슨",
            "어떤",
            "어떻게",
            "어디",
            "언제",
            "누구",
            "얼마",
            "입니까",
            "습니까",
            "합니까",
            "됩니까",
            "습니다",
            "입니다",
            "합니다",
            "있나요",
            "인가요",
            "하나요",
            "되나요",
            "에서",
            "으로",
            "하는",
            "있는",
            "인가",
            "까지",
            "부터",
        ],
        Lang::Tha => &[
            "อะไร",
            "คืออะไร",
            "อย่างไร",
            "ที่ไหน",
            "เมื่อไหร่",
            "เมื่อไร",
            "เมื่อใด",
            "ทำไม",
            "เท่าไหร่",
            "เท่าไร",
            "เท่าใด",
            "หรือไม่",
            "ได้ไหม",
            "ใคร",
            "ของ",
            "และ",
            "เป็น",
            "ที่ใด",
            "ในการ",
            "ครับ",
            "ค่ะ",
            "กี่",
            "จำนวน",
        ],
        _ => &[],
    }
}
