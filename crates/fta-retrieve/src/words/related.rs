//! Words that stand for each other, and kinds with their members: what stemming and small embeddings miss.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::stem;

/// Whether a sentence with the stem `said` may speak of what the stem `asked` names: both mean the same, or one is a
/// kind of the other. Every word is related to itself.
pub(crate) fn are_related(asked: &str, said: &str) -> bool {
    static PAIRS: LazyLock<HashMap<String, HashSet<String>>> = LazyLock::new(pairs);
    asked == said || PAIRS.get(asked).is_some_and(|others| others.contains(said))
}

fn pairs() -> HashMap<String, HashSet<String>> {
    let mut pairs: HashMap<String, HashSet<String>> = HashMap::new();
    let mut join = |a: &str, b: &str| {
        if a != b {
            pairs.entry(a.to_owned()).or_default().insert(b.to_owned());
            pairs.entry(b.to_owned()).or_default().insert(a.to_owned());
        }
    };
    for group in SAME.split(';') {
        let stems: Vec<String> = group.split_whitespace().map(stem).collect();
        for (i, a) in stems.iter().enumerate() {
            stems[i + 1..].iter().for_each(|b| join(a, b));
        }
    }
    for kind in KINDS.split(';') {
        let Some((head, members)) = kind.split_once(':') else { continue };
        let head = stem(head.trim());
        members.split_whitespace().for_each(|member| join(&head, &stem(member)));
    }
    pairs
}

/// Words of one group may replace each other.
const SAME: &str = "live reside move relocate settle; work job employ career profession occupation; buy purchase; \
begin start; end finish stop; quit resign notice leave; wed marry wedding marriage; doctor physician; dog puppy; \
cat kitten; trip travel journey vacation holiday; visit trip go; argue fight quarrel argument; help support assist; \
lend borrow; like love enjoy favourite prefer; baby birth born pregnant; die death funeral pass; prize award; \
sign register enrol enroll join; earn salary wage income; cost price pay; present gift; plan intend; sick ill; \
house home flat apartment; photo picture; shop store; autumn fall; town city; phone call; university college; \
child toddler; teach lesson course class teacher; study degree; race marathon; write wrote author; paint painting";

/// `kind: members`; members are not related to each other.
const KINDS: &str = "pet: dog puppy cat kitten hamster rabbit parrot turtle tortoise goldfish guinea; \
animal: dog cat horse bird rabbit snake turtle; \
instrument: guitar piano violin cello drum flute trumpet clarinet saxophone ukulele bass harp; \
music: song band concert album sing; \
sport: football soccer basketball tennis swim run hockey baseball golf volleyball climb ski surf; \
child: son daughter twin baby; sibling: brother sister; parent: mother father; grandparent: grandmother grandfather; \
relative: aunt uncle cousin niece nephew; husband: marry; wife: marry; \
book: novel; vehicle: car van bicycle truck motorcycle; illness: sick disease ill cancer diagnosis flu; \
colour: red blue green yellow orange purple pink black white grey brown; \
degree: university college graduate; school: class graduate; meal: dinner lunch breakfast";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(asked: &str, said: &str, expect: bool) {
        assert_eq!(are_related(&stem(asked), &stem(said)), expect, "{asked} {said}");
        assert_eq!(are_related(&stem(said), &stem(asked)), expect, "{said} {asked}");
    }

    #[test]
    fn groups_and_kinds() {
        check("live", "moved", true);
        check("instruments", "cello", true);
        check("cello", "violin", false);
        check("dog", "puppies", true);
        check("dog", "cat", false);
        check("lamp", "lamps", true);
        check("lamp", "tree", false);
    }
}
