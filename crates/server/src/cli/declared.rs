//! Arguments of the commands about declared objects.

use std::path::PathBuf;

use clap::Args;

pub(super) const PLAN_HELP: &str = "\
Examples:
  CICERONE_API_KEY=ck_… cicerone plan
  cicerone plan -f agents/museum.toml --server https://docs.example.com --out plan.json

The environment variable CICERONE_API_KEY contains an API key of the server. Exits with 0 if there is nothing to do, \
with 2 if there is, and with 1 if the work failed. docs/as-code.md explains the file.";

pub(super) const APPLY_HELP: &str = "\
Examples:
  CICERONE_API_KEY=ck_… cicerone apply
  cicerone apply plan.json
  cicerone apply --schema > cicerone.schema.json

Only fields that are written are managed. A source is replaced by adding the new version, waiting until it is \
trained, and removing the old one. Objects that the file no longer has are removed only with `--prune`. If the \
command is interrupted, run it again. docs/as-code.md explains the file.";

pub(super) const EXPORT_HELP: &str = "\
Examples:
  CICERONE_API_KEY=ck_… cicerone export --set museum -f museum/cicerone.yaml
  cicerone export --set museum --agent agent_8kd02JwQ1z --adopt

Writes the file, and beside it the folders `prompts` and `content`. Existing files are not overwritten. Secrets are \
not exported. Keys are exported only if they are managed in the set. Objects of other sets are left out, and named \
on standard error.";

/// The file and the server.
#[derive(Debug, Args)]
pub(crate) struct FromArguments {
    /// The file: YAML, TOML or JSON, by its extension [default: cicerone.yaml].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The address of the server [default: http://127.0.0.1:8080].
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
}

/// What may be removed.
#[derive(Debug, Args)]
pub(crate) struct PruneArguments {
    /// Remove sources, widgets, webhook endpoints and keys of the set that the file no longer has.
    #[arg(long)]
    pub(crate) prune: bool,
    /// Remove them even if they are more than half of an agent's sources.
    #[arg(long, requires = "prune")]
    pub(crate) prune_most: bool,
    /// Remove agents of the set that the file no longer has, with their sources and conversations.
    #[arg(long)]
    pub(crate) prune_agents: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) from: FromArguments,
    #[command(flatten)]
    pub(crate) prune: PruneArguments,
    /// Save the plan, to be carried out by `cicerone apply`.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyArguments {
    /// A saved plan. It is refused if the server or the files have changed since.
    #[arg(value_name = "PLAN", conflicts_with_all = ["file", "prune", "prune_most", "prune_agents"])]
    pub(crate) plan: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) from: FromArguments,
    #[command(flatten)]
    pub(crate) prune: PruneArguments,
    /// How long each source may take to be trained.
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600)]
    pub(crate) timeout_seconds: u64,
    /// Print the JSON Schema of the file.
    #[arg(long)]
    pub(crate) schema: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The name of the set.
    #[arg(long, value_name = "NAME")]
    pub(crate) set: String,
    /// Export this agent instead of all. May be repeated.
    #[arg(long = "agent", value_name = "ID")]
    pub(crate) agents: Vec<String>,
    /// The file to write: YAML, TOML or JSON, by its extension [default: cicerone.yaml].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The address of the server [default: http://127.0.0.1:8080].
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Mark the exported objects on this server as managed by the file.
    #[arg(long)]
    pub(crate) adopt: bool,
    /// Export objects of other sets too. With `--adopt`, they change to this set.
    #[arg(long)]
    pub(crate) all_sets: bool,
}
