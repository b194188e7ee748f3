//! Word lists of the link rules: general English, lower case.

/// Words that say by themselves that something is no longer as it was.
pub(super) const CHANGE: &[&str] = &[
    "no longer",
    "not anymore",
    "anymore",
    "any more",
    "used to",
    "instead",
    "switched",
    "quit",
    "resigned",
    "stopped",
    "gave up",
    "broke up",
    "split up",
    "divorced",
    "moved",
    "relocated",
    "retired",
    "replaced",
    "sold",
    "rescheduled",
    "postponed",
    "cancelled",
    "canceled",
    "called off",
    "turned into",
    "became",
    "recovered",
];

/// Those that go with a denial.
pub(super) const ENDED: &[&str] = &["no longer", "not anymore", "anymore", "any more", "instead"];

/// Words that say so when the rest says it as well.
pub(super) const NOW: &[&str] =
    &["now", "nowadays", "these days", "since then", "from now on", "finally", "new"];

/// Words of somebody who decides otherwise.
pub(super) const REVERSAL: &[&str] = &[
    "changed mind",
    "changed my mind",
    "changed her mind",
    "changed his mind",
    "after all",
    "on second thought",
];

/// Words of a report.
pub(super) const REPORT: &[&str] = &[
    "did",
    "went",
    "tried",
    "managed",
    "finished",
    "completed",
    "passed",
    "failed",
    "ended up",
    "turned out",
    "was",
    "were",
    "took",
    "attended",
    "got",
    "called",
    "finally",
    "cancelled",
    "canceled",
    "called off",
    "didn't",
    "wasn't",
];

/// Words of a report that something went as it was meant to.
pub(super) const AS_PLANNED: &[&str] = &[
    "like i said",
    "as i said",
    "as planned",
    "as promised",
    "as agreed",
    "said i would",
    "said she would",
    "said he would",
    "as i told you",
    "like i told you",
    "took your advice",
    "followed your advice",
];

/// Words that ask what came of something.
pub(super) const ASK: &[&str] =
    &["how did", "how was", "how were", "how is", "how are", "how's", "how has", "how have"];

/// Words of somebody who means to do something, or of something to come.
pub(super) const PLAN: &[&str] = &[
    "will",
    "i'll",
    "she'll",
    "he'll",
    "we'll",
    "going",
    "gonna",
    "plan",
    "plans",
    "planning",
    "planned",
    "wants",
    "want",
    "wanna",
    "hopes",
    "hope",
    "hoping",
    "intends",
    "intend",
    "thinking",
    "next",
    "tomorrow",
    "upcoming",
    "coming up",
    "soon",
    "about to",
    "getting ready",
    "preparing",
    "has a",
    "have a",
    "appointment",
    "interview",
    "starts",
    "start",
    "considering",
    "decided",
    "promised",
    "this month",
    "this week",
    "this weekend",
    "looking forward",
    "tonight",
];

/// Words of wishes to others and to all, which nobody reports on.
pub(super) const NO_PLAN: &[&str] = &[
    "let's",
    "will be",
    "he'll be",
    "she'll be",
    "they'll be",
    "keep going",
    "never give up",
    "if we",
    "if you",
    "hopefully",
];

/// Words of advice.
pub(super) const ADVICE: &[&str] = &[
    "idea",
    "maybe",
    "should",
    "could",
    "try",
    "would it help",
    "what about",
    "how about",
    "why not",
    "why don't",
    "recommend",
    "recommends",
    "suggest",
    "suggests",
    "suggested",
    "advise",
    "advises",
];

/// Words of comfort, praise and understanding, said to somebody.
pub(super) const COMFORT: &[&str] = &[
    "that sounds",
    "it sounds",
    "sounds really",
    "sounds very",
    "sounds so",
    "that must",
    "it must",
    "must have been",
    "must be",
    "must feel",
    "anyone would",
    "anybody would",
    "makes sense",
    "hear you",
    "no wonder",
    "understandable",
    "normal to",
    "natural to",
    "okay to",
    "ok to",
    "allowed to",
    "so sorry",
    "am sorry",
    "i'm sorry",
    "is sorry",
    "sorry to hear",
    "sorry for",
    "proud of",
    "be proud",
    "took courage",
    "courage",
    "brave",
    "not your fault",
    "not alone",
    "deserve",
    "deserves",
    "here for",
    "there for you",
    "hang in there",
    "don't worry",
    "don't be so hard",
    "it will get better",
    "things will get better",
    "you can do",
    "kind thing",
    "great idea",
    "good idea",
    "at first",
    "real loss",
    "take care of yourself",
    "take your time",
    "one step at a time",
    "stay strong",
    "keep going",
    "you've got this",
    "believe in",
];

/// Words that exclude each other when said of the same thing.
pub(super) const OPPOSITES: &[(&[&str], &[&str])] = &[
    (
        &["like", "likes", "love", "loves", "enjoy", "enjoys"],
        &["hate", "hates", "dislike", "dislikes", "loathes"],
    ),
    (&["married", "engaged", "dating"], &["single", "divorced", "unmarried"]),
    (&["employed"], &["unemployed", "jobless"]),
    (&["alive"], &["dead", "died"]),
    (&["open"], &["closed"]),
    (&["always"], &["never", "rarely", "seldom"]),
    (&["often"], &["never", "rarely", "seldom"]),
    (&["older", "elder"], &["younger"]),
    (&["healthy"], &["sick", "ill"]),
    (&["cheap"], &["expensive"]),
    (&["easy"], &["hard", "difficult"]),
    (&["safe"], &["dangerous", "unsafe"]),
    (&["passed"], &["failed"]),
    (&["won"], &["lost"]),
    (&["remembers", "remember"], &["forgot", "forgets"]),
    (&["agreed", "agrees"], &["refused", "refuses"]),
];

/// Ways of stating what a person has one of at a time, and whether two at once cannot be: people have two jobs.
pub(super) const SLOTS: &[(&[&str], bool)] = &[
    (&["lives in", "live in", "living in", "moved to", "based in", "resides in"], true),
    (&["married to", "engaged to"], true),
    (&["works as", "work as", "working as"], false),
];

/// Different words for one thing: all words of one of the groups in a sentence give the first word as content.
pub(super) const CONCEPTS: &[(&str, &[&[&str]])] = &[
    (
        "quit",
        &[
            &["quit"],
            &["quits"],
            &["quitting"],
            &["resign"],
            &["resigned"],
            &["handed", "notice"],
            &["gave", "notice"],
            &["given", "notice"],
            &["left", "job"],
            &["leave", "job"],
        ],
    ),
    ("marry", &[&["wedding"], &["got", "married"], &["getting", "married"], &["marry"], &["marries"]]),
    ("visit", &[&["visit"], &["visits"], &["visited"], &["went", "see"], &["going", "see"]]),
    ("quarrel", &[&["fight"], &["fought"], &["argued"], &["argument"], &["quarrel"], &["quarrelled"]]),
];

/// Words of a job that somebody has.
pub(super) const JOB: &[&str] = &[
    "works as",
    "work as",
    "works at",
    "work at",
    "works for",
    "work for",
    "working as",
    "working at",
    "working for",
    "job is",
    "employed at",
    "employed by",
    "cook at",
    "nurse at",
    "teacher at",
    "manager at",
    "engineer at",
    "assistant at",
    "clerk at",
    "waiter at",
    "waitress at",
    "driver for",
    "trainee at",
    "intern at",
    "accountant at",
    "hates job",
    "likes job",
    "loves job",
];

/// Stems that two claims about quite different things share.
pub(super) const GENERIC: &str = "make other do be have thing time spend spent tough dedic luck lucki friendship offer chat appreci bless day week month year hour minut good great nice lot bit realli even sometim alway \
    everyon everybodi someth anyth noth someon anyon peopl way want need tri know come came take took taken give gave look see saw \
    seen tell ask talk call start begin began find found keep kept help use love like enjoy new big huge littl small long first last \
    next happen sure yeah yes yep ok okay hi hey hello thank wow sorri actual most mostli kind sort mayb perhap guess hope mean \
    meant night morn even weekend evenly late earli soon end left put turn let alreadi ever back still pretti super much mani \
    few differ import hard easi best better wors bad fun excit amaz awesom cool happi glad sad feel felt stuff work plan idea \
    life live made part place moment rememb believ understand appreci share experi special wonder beauti check learn show \
    monday tuesday wednesday thursday friday saturday sunday januari februari march april may june juli august septemb octob \
    novemb decemb recent past ago around sinc bring brought set sound absolut definit total honest wait thought stay \
    noth might must would everyth without between though although probabl especi often person world whole real true \
    meet met support mind side journey deserv matter focus awesom impact support communiti famili friend photo pictur pic share group \
    right attitud stop potenti dream progress hard try determin congrat togeth inspir spread posit motiv strong strength power creat togeth love enjoi relax peac cherish reward grate thank uniqu \
    passion import crucial kind act word step futur kid act one two peopl connect self-car perspect view self valu";
