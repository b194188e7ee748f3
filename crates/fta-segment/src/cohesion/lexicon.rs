//! Word lists of general English: lower case, without apostrophes. Words are separated by white space, phrases by commas.

use std::collections::BTreeSet;

/// Words that say nothing of the subject: function words, contractions, and the small change of talk.
pub(super) const LIGHT_WORDS: &str = "
    a able about absolutely actually after again ago ah aint all almost along already alright also although
    always am amazing an and another any anybody anymore anyone anything anyway are arent around as ask at
    aw away awesome aww back bad be became because become been before being better bit both bring btw but by
    bye came can cannot cant certainly come comes coming cool could couldnt day days definitely did didnt do
    does doesnt doing done dont down during each either else em enough especially etc even ever every
    everybody everyone everything exactly far feel feeling few find fine first for from full gave get gets
    getting give gives giving glad go goes going gonna good got gotten great guess ha had hadnt haha happen
    happened hard has hasnt have havent having he hear hello help hed her here heres hers hes hey hi him
    himself his hmm hope how however hows i id if ill im in indeed instead into is isnt it itd itll its
    itself ive just keep kind kinda know last lately least less let lets like lil little lol long look
    looking looks lot lots made make makes making many may maybe me mean means might mine more most much
    must my myself near need never new next nice no none nope nor not nothing now of off often oh ok okay
    old on once one only or other others otherwise our ours out over own part people perhaps please pretty
    put quite rather really right said same saw say saying says see seem seems seen she shed shell shes
    should shouldnt since so some somebody someone something sometimes soon sorry sort sound sounds still
    stuff such super sure take taken taking talk tell than thank thanks that thatll thats the their theirs
    them themselves then there theres these they theyd theyll theyre theyve thing things think thinking this
    those though thought through time times to today together told too took totally toward towards tried
    true try trying two u um under understand until up upon ur us use used very wanna want wanted was wasnt
    way we wed well went were werent weve what whatever whats when whenever where whether which while who
    whole whom whos whose why will with within without woah wont wonderful would wouldnt wow ya yea yeah yep
    yes yet you youd youll your youre yours yourself youve
";

/// Openings of a sentence that begin something new, by their strength in `(0, 1]`, strongest first: the first that
/// fits counts.
pub(super) const OPENINGS: &[(f64, &str)] = &[
    (
        1.0,
        "anyway, anyways, by the way, btw, oh by the way, speaking of, talking of, on another note, on
        a different note, on a side note, on a lighter note, changing the subject, change of subject,
        to change the subject, changing topics, moving on, that reminds me, which reminds me, before i
        forget, in other news, enough about, one more thing",
    ),
    (
        0.9,
        "another thing, the other thing, lets talk about, can we talk about, i wanted to tell you, i
        wanted to ask you, i wanted to talk, guess what, you wont believe, i have news, i have some
        news, so about, now about",
    ),
    (
        0.8,
        "whats new, whats up, anything new, whats been, what have you been up to, how have you been,
        hows life, hows everything, any plans, do you have any plans",
    ),
    (0.7, "as for, back to, going back to, the other day"),
    (
        0.6,
        "lately, recently, yesterday, last night, last week, last weekend, last month, last year, this
        morning",
    ),
    (0.5, "in the meantime, the problem is"),
    (0.4, "actually, also, besides, okay so, ok so"),
    (0.3, "now"),
];

/// Openings of a sentence that greet.
pub(super) const GREETINGS: &str = "
    hello, hi, hey, good morning, good afternoon, good evening, greetings, welcome back
";

/// Openings of a sentence that take leave or wind up.
pub(super) const CLOSINGS: &str = "
    bye, goodbye, good bye, good night, goodnight, take care, see you, see ya, talk to you later, talk to
    you soon, talk soon, ttyl, i have to go, i need to go, i gotta go, gotta go, gotta run, i should go, i
    better go, have a good, have a great, have a nice, have a wonderful, you have a good, you have a great,
    you too bye, nice talking, it was nice talking, it was good talking, good talking, it was great talking,
    thanks for talking, thank you for talking, thanks for chatting, thank you for chatting, thanks for
    listening, thank you for listening, thanks for your help, thank you for your help, thank you so much for
    your, thanks so much for your, i wish you, best of luck, good luck with, is there anything else,
    anything else
";

/// First words of a turn that answer or take up the turn before it.
pub(super) const RESPONSES: &str = "
    absolutely, agreed, ah, alright, aw, aww, awesome, because, congrats, congratulations, cool, correct,
    cuz, definitely, exactly, fair, glad, gosh, great, haha, he, hes, hmm, i agree, i see, i understand, it,
    its, lol, maybe, me too, mhm, nah, nice, no, nope, not, of course, oh, ok, okay, omg, right, same here,
    she, shes, so sorry, sorry, sounds, sure, thank, thanks, that, thats, they, theyre, this, those,
    totally, true, understandable, very true, well, woah, wow, ya, yea, yeah, yep, yes, yup
";

/// Words of pleasant feeling.
pub(super) const PLEASANT: &str = "
    amazing awesome blessed calm celebrate cheerful comfort comfortable confident congratulations delighted
    encouraged enjoy excited exciting fantastic fun glad grateful great happy hopeful inspired joy laugh
    love lovely lucky optimistic peaceful pleased proud relaxed relief relieved satisfied smile success
    thankful thrilled win wonderful
";

/// Words of unpleasant feeling.
pub(super) const UNPLEASANT: &str = "
    afraid alone angry annoyed anxiety anxious ashamed awful betrayed broke cry death depressed depressing
    depression desperate devastated died disappointed disgusted divorce dread embarrassed exhausted fail
    failure fear fight frustrated frustrating grief guilty hate helpless hopeless horrible hurt ill insecure
    jealous lonely lose loss lost mad miserable nervous overwhelmed overwhelming pain panic regret sad
    scared sick stress stressed stressful struggle suffer suicide terrible terrified tired tough trouble
    unhappy upset useless worried worry worse worst worthless
";

/// Words that turn the next few words round.
pub(super) const NEGATIONS: &str = "
    aint arent cannot cant couldnt didnt doesnt dont hardly havent isnt never no not wasnt werent without
    wont wouldnt
";

/// The words of a list of words.
pub(super) fn words(list: &'static str) -> BTreeSet<&'static str> {
    list.split_whitespace().collect()
}

/// The phrases of a list of phrases, in order.
pub(super) fn phrases(list: &str) -> impl Iterator<Item = String> {
    list.split(',').map(|phrase| phrase.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_in_the_form_that_texts_are_brought_to() {
        let listed = [GREETINGS, CLOSINGS, RESPONSES].into_iter().chain(OPENINGS.iter().map(|o| o.1));
        for phrase in listed.flat_map(phrases) {
            assert!(
                phrase.split(' ').all(|w| !w.is_empty() && w.bytes().all(|c| c.is_ascii_lowercase())),
                "`{phrase}`"
            );
        }
        for word in [LIGHT_WORDS, PLEASANT, UNPLEASANT, NEGATIONS].into_iter().flat_map(words) {
            assert!(word.bytes().all(|c| c.is_ascii_lowercase()), "`{word}`");
        }
        assert!(OPENINGS.iter().all(|o| o.0 > 0.0 && o.0 <= 1.0));
        assert!(OPENINGS.is_sorted_by(|a, b| a.0 > b.0));
    }

    #[test]
    fn no_word_is_both_pleasant_and_unpleasant() {
        assert!(words(PLEASANT).is_disjoint(&words(UNPLEASANT)));
    }
}
