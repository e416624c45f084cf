//! The command line.

use std::path::PathBuf;

use cicerone_domain::usage::Quota;
use cicerone_domain::{Id, Timestamp, kind};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::configuration::{Environment, process_environment};

/// AI chat agents that answer from their owner's own content, with sources.
#[derive(Debug, Parser)]
#[command(name = "cicerone", version, after_help = EXAMPLES, after_long_help = LONG_EXAMPLES)]
pub(crate) struct Cli {
    /// A TOML file with settings, in place of the one that CICERONE_CONFIG names.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The largest quota that means something: beyond, a slip of the hand.
const MOST_OF_A_QUOTA: u64 = 1_000_000_000_000_000;

const EXAMPLES: &str = "\
Examples:
  cicerone ask --source README.md \"What is this about?\"
  cicerone serve
  CICERONE_BIND=0.0.0.0:80 CICERONE_DATA_DIR=/srv/cicerone cicerone serve";

const LONG_EXAMPLES: &str = "\
Examples:
  cicerone ask --source README.md \"What is this about?\"
      Answers one question from a file, without a server.

  cicerone serve
      Serves the HTTP API on 127.0.0.1:8080 and keeps everything in ./data. The first start
      prints a key and commands to try.

  OPENAI_BASE_URL=http://localhost:11434/v1 cicerone serve
      The same, with replies written by a local model (Ollama, llama.cpp, vLLM).

Settings come from environment variables, then from the TOML file that CICERONE_CONFIG names:
  CICERONE_BIND                    address to listen on         [127.0.0.1:8080]
  CICERONE_DATA_DIR                folder for everything kept   [./data]
  CICERONE_DATABASE_URL            sqlite:PATH or postgres://…  [a file in the data directory]
  CICERONE_OBJECT_STORE_URL        file:PATH or s3://BUCKET     [a folder in the data directory]
  CICERONE_ROOT_KEY                key with all permissions     [generated on the first start]
  CICERONE_RATE_LIMIT_PER_MINUTE   requests per key, 0 for none [6000]
  CICERONE_EGRESS_ALLOW            private ranges for crawls    [none]
  OPENAI_API_KEY, OPENAI_BASE_URL  a model to write replies     [the embedded answerer]
  RUST_LOG, CICERONE_LOG_FORMAT    logs on standard error       [info; text or json]
  OTEL_EXPORTER_OTLP_ENDPOINT      a collector of traces        [none]

`cicerone config check` prints every setting in effect, with those that only the file has.

Exit status: 0 when all went well, 1 when the work failed, 2 when the command line or a setting is
wrong.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the HTTP API.
    #[command(after_help = SERVE_HELP)]
    Serve,
    /// Answer one question from files, without a server.
    #[command(after_help = ASK_HELP)]
    Ask(AskArguments),
    /// Manage accounts.
    Account {
        #[command(subcommand)]
        command: AccountCommand,
    },
    /// Manage API keys.
    Key {
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// Manage the database's schema. `serve` brings it up to date by itself.
    Migrate {
        #[command(subcommand)]
        command: MigrateCommand,
    },
    /// Write everything that is kept to one file, also while the server runs.
    #[command(after_help = BACKUP_HELP)]
    Backup {
        /// The new file, as `cicerone.tar.gz`.
        file: PathBuf,
    },
    /// Put back what `backup` wrote, into an empty data directory.
    Restore {
        /// The file that `backup` wrote.
        file: PathBuf,
    },
    /// Look at the settings.
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Print the OpenAPI document of the HTTP API.
    Openapi,
    /// Print completions for a shell.
    #[command(after_help = "\
Example:
  cicerone completions bash > /etc/bash_completion.d/cicerone")]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Read strangers' documents: the program starts itself with this, and nobody else has to.
    #[command(hide = true)]
    ReadWorker,
}

const SERVE_HELP: &str = "\
Prints the address that it listens on, on its first start also a key and commands to try, and logs
to standard error. SIGTERM or Ctrl-C stops it gracefully, a second one at once. Settings come from
the environment: see `cicerone --help`.";

const BACKUP_HELP: &str = "\
Example:
  cicerone backup /backup/cicerone-$(date +%F).tar.gz

The file holds the database and the uploads as they are at one moment; indexes are made again from
them. It holds API keys as hashes only, and everything else in the clear: keep it as you keep the data
directory. A PostgreSQL database is backed up with pg_dump, and then the uploads beside it.";

const ASK_HELP: &str = "\
Examples:
  cicerone ask --source README.md \"How do I install it?\"
  cicerone ask --source docs --data-dir ~/.cache/docs \"What is the retention period?\"
  cicerone ask --source notes.txt --json \"Who was there?\" | jq -r .reply

The reply goes to standard output with the sources that it rests on; progress goes to standard
error. With OPENAI_API_KEY or OPENAI_BASE_URL set, that model writes the reply; without, it consists
of sentences of the sources. A question that the sources do not cover gets an honest reply, and
exit status 0.";

#[derive(Debug, Args)]
pub(crate) struct AskArguments {
    /// A text, PDF, DOCX or HTML file, a folder with such files, or a web page; may be given more than once.
    #[arg(long = "source", short, value_name = "FILE|FOLDER|URL")]
    pub(crate) sources: Vec<String>,
    /// Follow the links of web pages within their host.
    #[arg(long)]
    pub(crate) crawl: bool,
    /// Keep what was indexed in this folder, and use what it holds.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print the reply and its sources as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The model that replies, as the settings name it.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The question.
    pub(crate) question: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account: an owner of agents, files and keys.
    Create {
        /// Its name, unique in this installation.
        name: String,
    },
    /// List the accounts, oldest first.
    List,
    /// Show what an account may use in a month and keep, and what it has used and keeps, or change it.
    #[command(after_help = LIMIT_HELP)]
    Limit(LimitArguments),
}

const LIMIT_HELP: &str = "\
Examples:
  cicerone account limit default
  cicerone account limit default --messages 10000 --tokens 5000000
  cicerone account limit default --messages unlimited
  cicerone account limit default --bytes 1000000000

A month is a calendar month of UTC. Beyond its quota an account's messages are answered with 429 and
the code `quota_exceeded`; so are sources and files beyond the bytes that it may keep. A source counts
with its content and twice the text that was extracted from it. Without quotas of its own an account has
those of the section `quotas` of the settings, which by default are none.";

#[derive(Debug, Args)]
pub(crate) struct LimitArguments {
    /// The account.
    pub(crate) name: String,
    /// Messages a month: a number, `unlimited` (or `none`), or `default` for what the settings say.
    #[arg(long, value_name = "NUMBER", value_parser = parse_quota)]
    pub(crate) messages: Option<Quota>,
    /// Tokens of models a month.
    #[arg(long, value_name = "NUMBER", value_parser = parse_quota)]
    pub(crate) tokens: Option<Quota>,
    /// Bytes of sources and files that it may keep.
    #[arg(long, value_name = "NUMBER", value_parser = parse_quota)]
    pub(crate) bytes: Option<Quota>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key, and print it: the only time that it is shown.
    #[command(after_help = "\
Examples:
  cicerone key create --account default --permission '*' --name admin
  cicerone key create --account default --permission conversations:write --agent agent_8kd02JwQ1z")]
    Create(KeyArguments),
    /// Revoke a key at once.
    Revoke {
        /// Its id, as `key_8kd02JwQ1z`.
        id: Id<kind::ApiKey>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct KeyArguments {
    /// The account that the key speaks for.
    #[arg(long, value_name = "NAME")]
    pub(crate) account: String,
    /// What it may do: `*`, or agents:read, agents:write, sources:read, sources:write,
    /// conversations:read, conversations:write, webhooks:read, webhooks:write, keys:read,
    /// keys:write; may be given more than once.
    #[arg(long = "permission", value_name = "PERMISSION", required = true)]
    pub(crate) permissions: Vec<String>,
    /// The only agent that exists for it; may be given more than once.
    #[arg(long = "agent", value_name = "ID")]
    pub(crate) agents: Vec<Id<kind::Agent>>,
    /// When it stops to work, as 2027-01-31T08:30:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) expires_at: Option<Timestamp>,
    /// A name for people.
    #[arg(long, default_value = "command line")]
    pub(crate) name: String,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum MigrateCommand {
    /// Apply what is missing.
    Run,
    /// Take the last migration back. Its data is lost.
    Revert,
    /// Show which migrations are applied.
    Status,
    /// Take the last migration back and apply it again. Its data is lost.
    Redo,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check the settings and print those in effect, secrets masked.
    Check,
}

impl Cli {
    /// This process's environment, with `--config` in it.
    pub(crate) fn environment(&self) -> Environment {
        let mut environment = process_environment();
        if let Some(file) = &self.config {
            environment.insert("CICERONE_CONFIG".to_owned(), file.display().to_string());
        }
        environment
    }
}

fn parse_quota(text: &str) -> Result<Quota, String> {
    match text {
        "default" => Ok(Quota::Default),
        "unlimited" | "none" => Ok(Quota::Unlimited),
        number => match number.parse::<u64>() {
            Ok(most) if most <= MOST_OF_A_QUOTA => Ok(Quota::AtMost(most)),
            Ok(_) | Err(_) => Err("must be a number, `unlimited` or `default`".to_owned()),
        },
    }
}

fn parse_time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
