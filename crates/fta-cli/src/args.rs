//! Commands, flags and their help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use fta_mem::{
    profile::{Construction, ModelKind},
    units::{Completion, SituationType, UnitId, UnitStatus},
};
use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

use crate::{input::Format, words};

const AFTER_HELP: &str = "\
Exit codes:
  0  done
  1  ran, but the answer is negative: abstained, nothing found, not confirmed
  2  error

Data goes to standard output, everything else to standard error. With --json the data is one JSON object that
holds `schema_version` and `command`.";

/// Long-term memory for dialogues: ingest conversations, ask about them, see and correct what is kept.
#[derive(Debug, Parser)]
#[command(name = "fta", version, about, after_help = AFTER_HELP, max_term_width = 110, propagate_version = true)]
pub(crate) struct Cli {
    /// Settings that every command knows.
    #[command(flatten)]
    pub(crate) global: Global,
    /// Which language model does which step.
    #[command(flatten)]
    pub(crate) model: ModelOptions,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Settings that every command knows.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Directory that holds the memory [default: the data directory of your system]
    #[arg(long, global = true, env = "FTA_DATA", value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Whose memory; needed if the directory holds several
    #[arg(long, global = true, env = "FTA_USER", value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Print data as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Directory with the files of the embedding model, instead of the cache
    #[arg(long, global = true, env = "FTA_MODEL_DIR", value_name = "DIR")]
    pub(crate) model_dir: Option<PathBuf>,
    /// What embeds texts; a memory that was made with another one is refused, and `fta reindex` embeds it anew
    /// [default: minilm]
    #[arg(long, global = true, env = "FTA_EMBEDDER", value_enum, value_name = "NAME")]
    pub(crate) embedder: Option<EmbedderKind>,
    /// Vector index: auto, exact, exact-int8, or faiss:KIND where it is built in, with settings such as
    /// "exact threads=2" [default: auto]
    #[arg(long, global = true, env = "FTA_INDEX", value_name = "INDEX")]
    pub(crate) index: Option<String>,
    /// Download nothing; models come from the cache or from given directories
    #[arg(long, global = true, env = "FTA_OFFLINE", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) offline: bool,
    /// Settings of retrieval: the default or one of the paper's two [default: offline]
    #[arg(long, global = true, value_enum, value_name = "PRESET")]
    pub(crate) preset: Option<Preset>,
    /// No progress and no remarks on standard error
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Colours; NO_COLOR switches them off
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// Which language model does which step; `fta.toml` can say the same and more.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model options")]
pub(crate) struct ModelOptions {
    /// Settings file [default: ./fta.toml, else fta-mem/fta.toml in your configuration directory]
    #[arg(long, global = true, env = "FTA_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where a model's replies come from: nowhere, a server, or a file in this process [default: offline]
    #[arg(long, global = true, env = "FTA_PROFILE", value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// Address of the server, such as http://localhost:11434/v1; its key is taken from FTA_LLM_KEY
    #[arg(long, global = true, env = "FTA_LLM_URL", value_name = "URL")]
    pub(crate) llm_url: Option<String>,
    /// Name of the model on the server
    #[arg(long, global = true, env = "FTA_LLM_MODEL", value_name = "NAME")]
    pub(crate) llm_model: Option<String>,
    /// GGUF file, or name of a small model that `fta setup --model` knows
    #[arg(long, global = true, env = "FTA_LOCAL_MODEL", value_name = "FILE|NAME")]
    pub(crate) local_model: Option<String>,
    /// How a memory is built with a model: few calls, or as in the paper [default: lean]
    #[arg(long, global = true, env = "FTA_CONSTRUCTION", value_enum, value_name = "HOW")]
    pub(crate) construction: Option<ConstructionName>,
    /// Who does single steps, such as answer=model,relations=offline; steps are boundaries, units, relations,
    /// longitudinal, rewrite and answer
    #[arg(long, global = true, env = "FTA_STEPS", value_name = "LIST")]
    pub(crate) steps: Option<String>,
}

/// What embeds texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[value(rename_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EmbedderKind {
    /// The model all-MiniLM-L6-v2, in this process
    #[default]
    #[value(name = "minilm")]
    #[serde(rename = "minilm")]
    MiniLm,
    /// The same with 8-bit weights: faster and a little less exact
    #[value(name = "minilm-int8")]
    #[serde(rename = "minilm-int8")]
    MiniLmInt8,
    /// A model on a server that speaks the OpenAI protocol: section `[embeddings]` of fta.toml
    Server,
    /// Words by their hashes: needs no model and knows no synonyms
    Hash,
}

/// Where replies come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// From rules: no model at all
    Offline,
    /// From a server that speaks the OpenAI protocol
    Llm,
    /// From a GGUF file, in this process
    Local,
}

impl From<ProfileName> for ModelKind {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Offline => Self::Offline,
            ProfileName::Llm => Self::Llm,
            ProfileName::Local => Self::Local,
        }
    }
}

/// How a memory is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConstructionName {
    /// With few calls
    Lean,
    /// As in the paper
    Paper,
}

impl From<ConstructionName> for Construction {
    fn from(name: ConstructionName) -> Self {
        match name {
            ConstructionName::Lean => Self::Lean,
            ConstructionName::Paper => Self::Paper,
        }
    }
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Named settings of retrieval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[value(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub(crate) enum Preset {
    /// Several views of a unit and a lexical score
    #[default]
    Offline,
    /// As in the paper on ES-MemEval: K = 10
    EsMemeval,
    /// As in the paper on LoCoMo: K = 25
    Locomo,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Take in dialogue files; a second run changes nothing
    Ingest(Ingest),
    /// Answer a question, with the turns that the answer rests on
    Ask(Ask),
    /// Answer questions from standard input, one a line
    Chat(RetrieveArgs),
    /// Rank units for a query, without answering
    Search(Search),
    /// Show a unit with its evidence and links, or a session
    Show(Show),
    /// List units by time
    List(List),
    /// List links between units
    Links(Links),
    /// Correct a unit
    Correct(Correct),
    /// Delete a unit, a session, or everything of a user, for good
    Delete(Delete),
    /// Write everything of a user as JSON lines
    Export(Export),
    /// Read what `export` wrote
    Import(Import),
    /// Show the figures of a memory
    Stats,
    /// List the users whose memory is kept
    Users,
    /// Show what is known of a person for long, and which support helped
    Profile,
    /// Do again what was done offline because a model failed, and only that
    Retry,
    /// Embed memories anew after the embedder was changed; can be interrupted, and goes on where it stopped
    Reindex,
    /// Fetch and verify the embedding model, and a language model if one is named
    Setup(Setup),
    /// Check models and settings with one tiny call each, and say what to do
    Doctor,
    /// Print the settings of this run as a settings file
    Config,
    /// Ingest a built-in dialogue, ask eight questions, check the answers
    Demo(Demo),
    /// Print the completion script of a shell
    Completions(Completions),
    /// Print the manual page
    Man,
}

/// `fta ingest`.
#[derive(Debug, Args)]
pub(crate) struct Ingest {
    /// JSON or JSON lines
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Format of the files [default: found by looking]
    #[arg(long, value_name = "FORMAT", value_parser = words::formats())]
    pub(crate) format: Option<Format>,
}

/// How to retrieve.
#[derive(Debug, Clone, Args)]
pub(crate) struct RetrieveArgs {
    /// Day (and time) on which it is asked [default: the newest session's]
    #[arg(long, value_name = "DATE", value_parser = words::parse_date_time)]
    pub(crate) asked_on: Option<DateTime>,
    /// At most so many primary units
    #[arg(long, short, value_name = "N")]
    pub(crate) k: Option<usize>,
    /// At most so many tokens (characters / 4) of packet
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<usize>,
}

/// `fta ask`.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// The question; several words need no quotes
    #[arg(required = true, value_name = "QUESTION")]
    pub(crate) question: Vec<String>,
    /// How to retrieve.
    #[command(flatten)]
    pub(crate) retrieve: RetrieveArgs,
    /// Print the packet that the answer was made from
    #[arg(long)]
    pub(crate) show_packet: bool,
}

/// `fta search`.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The query; several words need no quotes
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// How to retrieve.
    #[command(flatten)]
    pub(crate) retrieve: RetrieveArgs,
}

/// `fta show`.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Show {
    /// Units, as `u12` or `12`
    #[arg(value_name = "ID", value_parser = words::parse_unit_id, conflicts_with = "session")]
    pub(crate) ids: Vec<UnitId>,
    /// A session with its turns, fragments and units
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

/// `fta list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// About this person
    #[arg(long, value_name = "NAME")]
    pub(crate) person: Option<String>,
    /// Of this situation type
    #[arg(long, value_name = "TYPE", value_parser = words::situations())]
    pub(crate) situation: Option<SituationType>,
    /// Of this status
    #[arg(long, value_name = "STATUS", value_parser = words::statuses())]
    pub(crate) status: Option<UnitStatus>,
    /// With this emotion
    #[arg(long, value_name = "WORD")]
    pub(crate) emotion: Option<String>,
    /// That happened on or after this day
    #[arg(long, value_name = "DATE")]
    pub(crate) from: Option<Date>,
    /// That happened on or before this day
    #[arg(long, value_name = "DATE")]
    pub(crate) until: Option<Date>,
    /// Without units that were superseded
    #[arg(long)]
    pub(crate) current: bool,
    /// At most so many
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
}

/// `fta links`.
#[derive(Debug, Args)]
pub(crate) struct Links {
    /// Only links of this unit
    #[arg(value_name = "ID", value_parser = words::parse_unit_id)]
    pub(crate) id: Option<UnitId>,
    /// Only links of this relation
    #[arg(long, value_name = "RELATION", value_parser = words::relations())]
    pub(crate) relation: Option<fta_mem::units::Relation>,
}

/// `fta correct`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true))]
pub(crate) struct Correct {
    /// The unit
    #[arg(value_name = "ID", value_parser = words::parse_unit_id)]
    pub(crate) id: UnitId,
    /// New claim
    #[arg(long, value_name = "TEXT", group = "change")]
    pub(crate) claim: Option<String>,
    /// New event time, seen from the day it was said: "last Friday", "May 2023"
    #[arg(long, value_name = "WHEN", group = "change")]
    pub(crate) event_time: Option<String>,
    /// New situation type
    #[arg(long, value_name = "TYPE", value_parser = words::situations(), group = "change")]
    pub(crate) situation: Option<SituationType>,
    /// New status
    #[arg(long, value_name = "STATUS", value_parser = words::statuses(), group = "change")]
    pub(crate) status: Option<UnitStatus>,
    /// Whether it is over
    #[arg(long, value_name = "WORD", value_parser = words::completions(), group = "change")]
    pub(crate) completion: Option<Completion>,
    /// New emotions, separated by commas; empty for none
    #[arg(long, value_name = "WORDS", group = "change")]
    pub(crate) emotions: Option<String>,
}

/// `fta delete`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct Delete {
    /// These units
    #[arg(long, value_name = "ID", value_parser = words::parse_unit_id, group = "what", num_args = 1..)]
    pub(crate) unit: Vec<UnitId>,
    /// This session with all its units
    #[arg(long, value_name = "ID", group = "what")]
    pub(crate) session: Option<String>,
    /// Everything of the user
    #[arg(long, group = "what")]
    pub(crate) all: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// `fta export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// `fta import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// File to read; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// `fta setup`.
#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// Fetch this language model too: a name, `small` for all that are known, or `list` for their names
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
}

/// `fta demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Keep the demo's memory in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
}

/// `fta completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
