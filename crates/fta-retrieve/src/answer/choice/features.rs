//! What the choice sees of a reading, and how much each feature weighs.

macro_rules! features {
    ($($(#[doc = $doc:literal])+ $name:ident = $weight:literal,)+) => {
        /// A feature of a reading, each about in `[0, 1]`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Feature { $($(#[doc = $doc])+ $name,)+ }

        /// Names of the features, in order.
        pub const FEATURES: [&str; N_FEATURES] = [$(stringify!($name)),+];

        /// How many features a reading has.
        pub const N_FEATURES: usize = [$(Feature::$name),+].len();

        /// The weights that come with the crate, by [`FEATURES`]: learned by `cargo xtask bench choice` (decision 18).
        pub const fn default_weights() -> [f32; N_FEATURES] {
            [$($weight),+]
        }
    };
}

features! {
    /// Of the sentence: how far its score is below the best one's; negative.
    Gap = 1.28,
    /// It scores best.
    First = -0.54,
    /// It scores second.
    Second = -0.05,
    /// Share of the question's content that it repeats.
    Covered = -0.07,
    /// Cosine with the question.
    Similarity = 0.32,
    /// How it stands to the person asked about.
    Speaker = -0.05,
    /// Place of its unit, falling with the rank.
    UnitRank = 0.57,
    /// It only answers what the other told.
    Reply = 0.47,
    /// It asks.
    Question = 0.44,
    /// Its unit's claim rests on it.
    Quoted = 0.0,
    /// It is in a turn right after a question of the other.
    AnswersQuestion = 0.03,
    /// It is the first of its turn.
    OpensTurn = 0.13,
    /// It repeats no word of the question.
    NothingRepeated = 0.15,
    /// Of the answer: one word.
    Words1 = -0.55,
    /// Two words.
    Words2 = -0.27,
    /// Three words.
    Words3 = 0.18,
    /// Four or five words.
    Words4 = -0.18,
    /// Six to eight words.
    Words6 = 0.06,
    /// Nine to twelve words.
    Words9 = 0.26,
    /// More words.
    Words13 = 0.51,
    /// Share of function words.
    StopShare = -0.7,
    /// Share of words that the question has.
    Repeats = -0.4,
    /// A name inside.
    Name = 0.22,
    /// A number inside.
    Number = 0.4,
    /// It is a title or name that the sentence gives.
    Title = 0.35,
    /// A word of the first person inside.
    FirstPerson = -0.25,
    /// A word of the second person inside.
    SecondPerson = -0.08,
    /// A negation inside.
    Negation = -0.27,
    /// Praise or filler inside.
    Filler = -0.3,
    /// It is the clause that tells.
    Clause = 0.65,
    /// It is the object of the question's verb.
    Object = 0.36,
    /// It is the place that the sentence names.
    Place = -0.73,
    /// Rarity of its words among the leading sentences.
    Rarity = -1.01,
    /// Share of the other leading sentences that have its words.
    Votes = -0.93,
    /// A kind of the wanted thing inside.
    KindOfWanted = 0.64,
    /// The wanted thing itself inside.
    Wanted = 0.17,
    /// It is what the rules of the kind of answer find in the sentence.
    ByKind = 0.28,
    /// How sure the rules are of it.
    Certainty = 2.57,
    /// Overlap with what the rules of the kind find in all sentences together.
    OverlapTogether = 0.83,
    /// It is that answer itself.
    Together = -0.91,
}

/// Sets features by name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Features(pub(super) [f32; N_FEATURES]);

impl Features {
    pub(super) fn new() -> Self {
        Self([0.0; N_FEATURES])
    }

    pub(super) fn set(&mut self, feature: Feature, value: f32) {
        self.0[feature as usize] = value;
    }

    pub(super) fn flag(&mut self, feature: Feature, holds: bool) {
        self.set(feature, f32::from(u8::from(holds)));
    }
}
