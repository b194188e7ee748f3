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

        /// The weights that come with the crate, by [`FEATURES`]: decision 18 says how they were learned.
        pub const fn default_weights() -> [f32; N_FEATURES] {
            [$($weight),+]
        }
    };
}

features! {
    /// Of the sentence: how far its score is below the best one's; negative.
    Gap = 1.38,
    /// It scores best.
    First = -0.66,
    /// It scores second.
    Second = -0.18,
    /// Share of the question's content that it repeats.
    Covered = -0.19,
    /// Cosine with the question.
    Similarity = 0.49,
    /// How it stands to the person asked about.
    Speaker = -0.11,
    /// Place of its unit, falling with the rank.
    UnitRank = 0.56,
    /// It only answers what the other told.
    Reply = 0.53,
    /// It asks.
    Question = 0.46,
    /// Its unit's claim rests on it.
    Quoted = -0.04,
    /// It is in a turn right after a question of the other.
    AnswersQuestion = 0.03,
    /// It is the first of its turn.
    OpensTurn = 0.11,
    /// It repeats no word of the question.
    NothingRepeated = 0.19,
    /// Of the answer: one word.
    Words1 = -0.6,
    /// Two words.
    Words2 = -0.28,
    /// Three words.
    Words3 = 0.17,
    /// Four or five words.
    Words4 = -0.15,
    /// Six to eight words.
    Words6 = 0.1,
    /// Nine to twelve words.
    Words9 = 0.27,
    /// More words.
    Words13 = 0.5,
    /// Share of function words.
    StopShare = -0.52,
    /// Share of words that the question has.
    Repeats = -0.28,
    /// A name inside.
    Name = 0.23,
    /// A number inside.
    Number = 0.37,
    /// It is a title or name that the sentence gives.
    Title = 0.4,
    /// A word of the first person inside.
    FirstPerson = -0.24,
    /// A word of the second person inside.
    SecondPerson = -0.21,
    /// A negation inside.
    Negation = -0.2,
    /// Praise or filler inside.
    Filler = -0.35,
    /// It is the clause that tells.
    Clause = 0.6,
    /// It is the object of the question's verb.
    Object = 0.3,
    /// It is the place that the sentence names.
    Place = -0.69,
    /// Rarity of its words among the leading sentences.
    Rarity = -0.91,
    /// Share of the other leading sentences that have its words.
    Votes = -0.87,
    /// A kind of the wanted thing inside.
    KindOfWanted = 0.62,
    /// The wanted thing itself inside.
    Wanted = 0.19,
    /// It is what the rules of the kind of answer find in the sentence.
    ByKind = 0.21,
    /// How sure the rules are of it.
    Certainty = 2.68,
    /// Overlap with what the rules of the kind find in all sentences together.
    OverlapTogether = 0.91,
    /// It is that answer itself.
    Together = -0.81,
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
