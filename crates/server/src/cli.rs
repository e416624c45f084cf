//! The command line.

mod declared;
mod import;

use std::path::PathBuf;

use cicerone_domain::usage::Quota;
use cicerone_domain::{Id, Timestamp, kind};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::configuration::{Environment, process_environment};

pub(crate) use declared::{ApplyArguments, ExportArguments, PlanArguments, PruneArguments};
pub(crate) use import::ImportArguments;

/// AI chat agents that answer from their owner's own content, with sources.
#[derive(Debug, Parser)]
#[command(name = "cicerone", version, after_help = EXAMPLES, after_long_help = LONG_EXAMPLES)]
pub(crate) struct Cli {
    /// A TOML file with settings. Replaces CICERONE_CONFIG.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The largest quota that is accepted. A larger one is a typing mistake.
const MOST_OF_A_QUOTA: u64 = 1_000_000_000_000_000;

const EXAMPLES: &str = "\
Examples:
  cicerone ask --source README.md \"What is this about?\"
  cicerone read report.pdf
  cicerone serve
  CICERONE_BIND=0.0.0.0:80 CICERONE_DATA_DIR=/srv/cicerone cicerone serve";

const LONG_EXAMPLES: &str = "\
Examples:
  cicerone ask --source README.md \"What is this about?\"
      Answers one question from a file, without a server.

  cicerone read report.pdf
      Prints the text that is read from a file, and reports what could not be read.

  cicerone serve
      Serves the HTTP API on 127.0.0.1:8080 and keeps everything in ./data. The first start prints a key and \
commands to try.

  OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_MODEL=llama3.1 cicerone serve
      The same, with replies written by a local model (Ollama, llama.cpp, vLLM).

Settings come from environment variables and from the TOML file that CICERONE_CONFIG names; the environment wins. \
The most used:
  CICERONE_BIND                    address to listen on         [127.0.0.1:8080]
  CICERONE_DATA_DIR                folder for all data          [./data]
  CICERONE_DATABASE_URL            sqlite:PATH or postgres://…  [a file in the data directory]
  CICERONE_OBJECT_STORE_URL        file:PATH or s3://BUCKET     [a folder in the data directory]
  CICERONE_ROOT_KEY                key with all permissions     [generated on the first start]
  CICERONE_RATE_LIMIT_PER_MINUTE   requests per key, 0 for none [6000]
  CICERONE_EGRESS_ALLOW            private ranges for crawls    [none]
  OPENAI_API_KEY, OPENAI_BASE_URL  a server to write replies    [the embedded answerer]
  OPENAI_MODEL                     the model to ask it for      [that of the agent]
  RUST_LOG, CICERONE_LOG_FORMAT    logs on standard error       [info; text or json]
  OTEL_EXPORTER_OTLP_ENDPOINT      a collector of traces        [none]

`cicerone config reference` explains all settings; `cicerone config check` prints those in effect.

Exit status: 0 on success, 1 if the work failed, 2 if the command line or a setting is wrong.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the HTTP API.
    #[command(after_help = SERVE_HELP)]
    Serve,
    /// Answer one question from files, without a server.
    #[command(after_help = ASK_HELP)]
    Ask(AskArguments),
    /// Serve an agent, or files, to a program that speaks the Model Context Protocol.
    #[command(after_help = MCP_HELP)]
    Mcp(McpArguments),
    /// Print the text that the service extracts from files.
    #[command(after_help = READ_HELP)]
    Read(ReadArguments),
    /// Show what `apply` would change.
    #[command(after_help = declared::PLAN_HELP)]
    Plan(PlanArguments),
    /// Apply a file of agents, sources, widgets, webhook endpoints and keys to a server.
    #[command(after_help = declared::APPLY_HELP)]
    Apply(ApplyArguments),
    /// Export a server's objects as a file for `apply`, with the contents of sources.
    #[command(after_help = declared::EXPORT_HELP)]
    Export(ExportArguments),
    /// Add pairs, files, web pages and exports from other services to an agent on a server.
    #[command(after_help = import::HELP)]
    Import(ImportArguments),
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
    /// Manage the database schema. `serve` updates it automatically.
    Migrate {
        #[command(subcommand)]
        command: MigrateCommand,
    },
    /// Back up all data to one file, even while the server runs.
    #[command(after_help = BACKUP_HELP)]
    Backup {
        /// The new file, such as `cicerone.tar.gz`.
        file: PathBuf,
    },
    /// Restore a backup into an empty data directory.
    Restore {
        /// The file that `backup` wrote.
        file: PathBuf,
    },
    /// Check and explain the settings.
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Check whether the server on this machine is ready.
    #[command(after_help = "\
Asks /readyz at the address that CICERONE_BIND or the settings file names. Exits with 0 if the server is ready and \
with 1 otherwise: a health check for containers.")]
    Health,
    /// Print the OpenAPI document of the HTTP API.
    Openapi,
    /// Print completions for a shell.
    #[command(after_help = "\
Example:
  cicerone completions bash > /etc/bash_completion.d/cicerone")]
    Completions {
        /// The shell to print completions for.
        shell: Shell,
    },
    /// Read untrusted documents. The program starts itself with this subcommand.
    #[command(hide = true)]
    ReadWorker {
        /// What the process becomes instead, if given. `serve_reader` reads it.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        order: Vec<std::ffi::OsString>,
    },
}

const SERVE_HELP: &str = "\
Prints the address that it listens on; the first start also prints a key and commands to try. Logs go to standard \
error. SIGTERM or Ctrl-C stops it gracefully; a second signal stops it at once.

For the settings, see `cicerone --help`.";

const BACKUP_HELP: &str = "\
Example:
  cicerone backup /backup/cicerone-$(date +%F).tar.gz

The file contains a consistent copy of the database and the uploads; search indexes are rebuilt from them. API keys \
are stored only as hashes, but everything else is unencrypted: protect the file like the data directory. Back up a \
PostgreSQL database with pg_dump, and then copy the uploads.

Exits with 0 if the file contains everything, and with 3 if it was written but files are missing from it, because \
the object store has lost their content; their names are printed.";

const ASK_HELP: &str = "\
Examples:
  cicerone ask --source README.md \"How do I install it?\"
  cicerone ask --source docs --data-dir ~/.cache/docs \"What is the retention period?\"
  cicerone ask --source notes.txt --json \"Who was there?\" | jq -r .reply

The reply and its sources go to standard output, progress goes to standard error. If OPENAI_API_KEY or \
OPENAI_BASE_URL is set, a model of that server writes the reply, the one that OPENAI_MODEL names; otherwise the reply \
consists of sentences of the sources. If the sources do not cover the question, the reply says so, and the exit \
status is 0.";

const MCP_HELP: &str = "\
Examples:
  CICERONE_API_KEY=ck_… cicerone mcp --agent agent_8kd02JwQ1z
  CICERONE_API_KEY=ck_… cicerone mcp --agent agent_8kd02JwQ1z --server https://docs.example.com
  cicerone mcp --source docs --source notes.txt

Desktop clients start this command and exchange messages with it over standard input and output, one on each line. \
With `--agent`, the messages are forwarded to a server. With `--source`, the files are read at the start, and \
questions are answered without a server, as `cicerone ask` does; conversations are kept until the command ends. Both \
offer the tools `search`, `fetch` and `ask`. docs/mcp.md shows the settings of common clients.";

const READ_HELP: &str = "\
Examples:
  cicerone read report.pdf
  cicerone read --json fees.xlsx | jq '{table_count, warnings}'
  cicerone read *.docx --json | jq -r 'select(.error) | .file'

Each file is read in a child process with the limits of the service. Its text goes to standard output as Markdown; \
warnings about parts that were not read go to standard error. With `--json`, each file is one line: an object with \
`file`, `content_type`, `title`, `language`, `page_count`, `character_count`, `table_count`, `passage_count`, \
`warnings` and `text`, or with `file` and `error`. If a file cannot be read, the others are read, and the exit status \
is 1.";

#[derive(Debug, Args)]
pub(crate) struct ReadArguments {
    /// Print one line of JSON for each file.
    #[arg(long)]
    pub(crate) json: bool,
    /// PDF, DOCX, ODT, RTF, PPTX, XLSX, XLS, ODS, CSV, EPUB, EML, HTML or text files.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

/// Files to answer from without a server.
#[derive(Debug, Args)]
pub(crate) struct SourceArguments {
    /// A file (PDF, DOCX, ODT, RTF, PPTX, XLSX, XLS, ODS, CSV, EPUB, EML, HTML or text), a folder with such files, or a web page. May be repeated.
    #[arg(long = "source", short, value_name = "FILE|FOLDER|URL")]
    pub(crate) sources: Vec<String>,
    /// Follow the links of web pages within their host.
    #[arg(long)]
    pub(crate) crawl: bool,
    /// Keep the index in this folder, and reuse what it already contains.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The model of the agent: a built-in name, or a route of the settings. OPENAI_MODEL names the model at the server.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AskArguments {
    #[command(flatten)]
    pub(crate) from: SourceArguments,
    /// Print the reply and its sources as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The question.
    pub(crate) question: String,
}

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// The agent to serve. The environment variable CICERONE_API_KEY must contain an API key that has access to it.
    #[arg(
        long,
        value_name = "ID",
        conflicts_with_all = ["sources", "crawl", "data_dir", "model"]
    )]
    pub(crate) agent: Option<Id<kind::Agent>>,
    /// The address of the agent's server [default: http://127.0.0.1:8080].
    #[arg(
        long,
        value_name = "URL",
        conflicts_with_all = ["sources", "crawl", "data_dir", "model"]
    )]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) from: SourceArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account: an owner of agents, files and keys.
    Create {
        /// The name, unique in this installation.
        name: String,
    },
    /// List the accounts, oldest first.
    List,
    /// Show or change the quotas of an account, and show what it uses.
    #[command(after_help = LIMIT_HELP)]
    Limit(LimitArguments),
}

const LIMIT_HELP: &str = "\
Examples:
  cicerone account limit default
  cicerone account limit default --messages 10000 --tokens 5000000
  cicerone account limit default --messages unlimited
  cicerone account limit default --bytes 1000000000

Messages and tokens are counted per calendar month (UTC). Requests beyond a quota are answered with 429 and the code \
`quota_exceeded`. A source counts as its content plus twice the text extracted from it. An account without quotas of \
its own has those of the section `quotas` of the settings; by default there are none.";

#[derive(Debug, Args)]
pub(crate) struct LimitArguments {
    /// The name of the account.
    pub(crate) name: String,
    /// Messages per month: a number, `unlimited` (or `none`), or `default` for the quota in the settings.
    #[arg(long, value_name = "NUMBER", value_parser = parse_quota)]
    pub(crate) messages: Option<Quota>,
    /// Model tokens per month.
    #[arg(long, value_name = "NUMBER", value_parser = parse_quota)]
    pub(crate) tokens: Option<Quota>,
    /// Bytes of sources and files that the account may store.
    #[arg(long, value_name = "NUMBER", value_parser = parse_quota)]
    pub(crate) bytes: Option<Quota>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key and print it. It is not shown again.
    #[command(after_help = "\
Examples:
  cicerone key create --account default --permission '*' --name admin
  cicerone key create --account default --permission conversations:write --agent agent_8kd02JwQ1z")]
    Create(KeyArguments),
    /// Revoke a key immediately.
    Revoke {
        /// The id, such as `key_8kd02JwQ1z`.
        id: Id<kind::ApiKey>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct KeyArguments {
    /// The account that the key belongs to.
    #[arg(long, value_name = "NAME")]
    pub(crate) account: String,
    /// What it may do: `*`, or agents:read, agents:write, sources:read, sources:write,
    /// conversations:read, conversations:write, conversations:export, webhooks:read, webhooks:write,
    /// keys:read, keys:write. May be repeated.
    #[arg(long = "permission", value_name = "PERMISSION", required = true)]
    pub(crate) permissions: Vec<String>,
    /// Restrict the key to this agent. May be repeated.
    #[arg(long = "agent", value_name = "ID")]
    pub(crate) agents: Vec<Id<kind::Agent>>,
    /// When the key expires, such as 2027-01-31T08:30:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) expires_at: Option<Timestamp>,
    /// A name to recognise the key by.
    #[arg(long, default_value = "command line")]
    pub(crate) name: String,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum MigrateCommand {
    /// Apply all pending migrations.
    Run,
    /// Revert the last migration. Its data is lost.
    Revert,
    /// Show which migrations are applied.
    Status,
    /// Revert the last migration and apply it again. Its data is lost.
    Redo,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check the settings and print those in effect, with secrets masked.
    Check,
    /// Print the reference of all settings in Markdown.
    Reference,
}

impl Cli {
    /// The environment of this process, with `--config` as `CICERONE_CONFIG`.
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

    /// The help of a command and of those below it, on a terminal of this width.
    fn helps(width: usize) -> Vec<String> {
        fn add(command: &mut clap::Command, all: &mut Vec<String>) {
            all.push(command.render_help().to_string());
            all.push(command.render_long_help().to_string());
            command.get_subcommands_mut().for_each(|below| add(below, all));
        }
        let (mut command, mut all) = (Cli::command().term_width(width), Vec::new());
        command.build();
        add(&mut command, &mut all);
        all
    }

    #[test]
    fn paragraphs_of_the_help_are_wrapped_to_the_width_and_only_there() {
        for width in [100, 80] {
            for help in helps(width) {
                let lines: Vec<&str> = help.lines().collect();
                for pair in lines.windows(2) {
                    let &[line, next] = pair else { continue };
                    let is_text = |line: &str| !line.is_empty() && !line.starts_with(' ');
                    let word = next.split(' ').next().unwrap_or_default();
                    let is_full = line.chars().count() + 1 + word.chars().count() > width;
                    assert!(!is_text(line) || !is_text(next) || is_full, "{line}\n{next}");
                }
            }
        }
        for line in helps(100).iter().flat_map(|help| help.lines()) {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
