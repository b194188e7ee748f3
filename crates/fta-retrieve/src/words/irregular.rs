//! Irregular English forms and their base forms.

use std::{collections::HashMap, sync::LazyLock};

/// Base form of an irregular verb form or plural; `None` for a regular word. Takes lower case.
pub(super) fn base(word: &str) -> Option<&'static str> {
    static TABLE: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
        let mut table = HashMap::new();
        for entry in FORMS.split(';') {
            let mut words = entry.split_whitespace();
            if let Some(base) = words.next() {
                for form in words {
                    table.insert(form, base);
                }
            }
        }
        table
    });
    TABLE.get(word).copied()
}

/// `base form form; ...`
const FORMS: &str = "go went gone going; buy bought; bring brought; think thought; teach taught; catch caught; \
fight fought; seek sought; see saw seen; do did done doing; have has had having; take took taken; give gave given; \
come came; become became; get got gotten getting; make made making; say said; tell told; sell sold; know knew known; \
grow grew grown; throw threw thrown; fly flew flown; draw drew drawn; blow blew blown; show shown; run ran running; \
begin began begun beginning; drink drank drunk; swim swam swum swimming; sing sang sung; ring rang rung; \
sink sank sunk; win won winning; find found; feel felt; keep kept; sleep slept; leave left; meet met meeting; \
lead led; read reading; feed fed; speak spoke spoken; break broke broken; wake woke woken; choose chose chosen; \
freeze froze frozen; steal stole stolen; write wrote written writing; ride rode ridden riding; \
drive drove driven driving; rise rose risen; eat ate eaten; fall fell fallen; hold held; stand stood; \
understand understood; lose lost losing; build built; send sent; spend spent; lend lent; bend bent; hear heard; \
learn learnt; dream dreamt; mean meant; deal dealt; sit sat sitting; put putting; cut cutting; hit hitting; \
let letting; set setting; quit quitting; hurt hurting; cost costing; pay paid; wear wore worn; tear tore torn; \
bear bore born; forget forgot forgotten; forgive forgave forgiven; hide hid hidden; bite bit bitten; shoot shot; \
fit fitting; hang hung; stick stuck; strike struck; wind wound; bind bound; light lit; slide slid; shake shook; \
mistake mistook; swear swore sworn; be was were been am is are; die dying died; lie lying lied; \
child children kid kids; man men; woman women; person people; foot feet; tooth teeth; mouse mice; wife wives; \
life lives; knife knives; leaf leaves; shelf shelves; mom mum mother mama; dad father papa; pic photo picture pics; \
bike bicycle; tv television; movie film films movies; favourite favorite; colour color; best good better; \
bad worse worst";

#[cfg(test)]
mod tests {
    use super::base;

    #[test]
    fn forms_lead_to_their_base() {
        assert_eq!(base("went"), Some("go"));
        assert_eq!(base("mice"), Some("mouse"));
        assert_eq!(base("table"), None);
    }
}
