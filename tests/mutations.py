#!/usr/bin/env python3
"""Breaks the product in one place after another, and checks that tests notice each time.

    tests/mutations.py [--list] [--crate NAME] [NUMBER...]

Each mutant replaces a piece of code that occurs once in its file, runs the tests of that place, and puts the file
back. The script ends with 1 if a mutant survives. It changes the working tree: run it in a clean clone.
"""

import argparse
import pathlib
import subprocess
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUITE = ["-p", "cicerone-tests", "--test", "suite"]


class Mutant(NamedTuple):
    """A place to break."""

    file: str
    before: str
    after: str
    # Names of tests that are run, in the suite or, if this is empty, in the file's own crate.
    tests: str = ""

    def command(self):
        """The tests that must notice it."""
        if self.tests:
            return ["cargo", "test", "--quiet", *SUITE, "--", *self.tests.split()]
        return ["cargo", "test", "--quiet", "-p", f"cicerone-{self.file.split('/')[1]}", "--lib"]


def domain(file, before, after):
    return Mutant(f"crates/domain/src/{file}", before, after)


MUTANTS = [
    # Who is served next, and how much.
    domain("fairness/state.rs", "(after <= self.capacity && nobody_waits())", "(after < self.capacity && nobody_waits())"),
    domain("fairness/state.rs", "(account.held, start, request.ticket)", "(0, start, request.ticket)"),
    domain("fairness/state.rs", "[Urgency::Question, Urgency::Learning].into_iter().find", "[Urgency::Learning, Urgency::Question].into_iter().find"),
    domain("fairness/state.rs", "u64::try_from(present).unwrap_or(u64::MAX).saturating_add(u64::from(!is_known))", "u64::try_from(present).unwrap_or(u64::MAX)"),
    # Sources, conversations, files and what accounts may use.
    domain("source.rs", "let is_same = changed_documents == 0 && ", "let is_same = "),
    domain("conversation.rs", "if self.agent_id == agent {", "if true {"),
    domain("upload.rs", "users.is_empty() || ", ""),
    domain("usage.rs", "kept.saturating_add(more) > limit", "kept.saturating_add(more) >= limit"),
    domain("usage.rs", "used.messages.saturating_add(in_progress) >= most", "used.messages >= most"),
    domain("page.rs", "if items > 0 && bytes > left {", "if bytes > left {"),
    domain("job.rs", "waiting.sort_by_key(running);", "waiting.reverse();"),
    # Endpoints that fail, and secrets that sign for a while.
    domain("webhook/health.rs", "lasts >= limits::ENDPOINT_FAILING_MILLIS && self.failures", "lasts >= limits::ENDPOINT_FAILING_MILLIS || self.failures"),
    domain("webhook/health.rs", "_ if duration > QUICK => None", "_ if duration > QUICK => Some(now)"),
    domain("webhook/secret.rs", "self.retired.len() + 2 > limits::LIVE_SECRETS", "self.retired.len() + 1 > limits::LIVE_SECRETS"),
    domain("webhook/secret.rs", "self.retired.iter().filter(|retired| retired.until > now)", "self.retired.iter().filter(|retired| retired.until >= now)"),
    # Keys: who may make, see and use what.
    domain("access/bounds.rs", "self.expires_at.is_none_or(|own| own > end)", "self.expires_at.is_some_and(|own| own > end)"),
    domain("access/bounds.rs", "if end <= now {", "if end < now {"),
    domain("idempotency.rs", "return caller.covers(&self.maker) && self.maker.covers(caller);", "return caller.covers(&self.maker);"),
    domain("idempotency.rs", "(1..=limits::IDEMPOTENCY_KEY_CHARS).contains(&text.len())", "(1..limits::IDEMPOTENCY_KEY_CHARS).contains(&text.len())"),
    # Deliveries.
    domain("webhook/schedule.rs", "planned.max(asked.unwrap_or_default().min(LONGEST_ASKED))", "planned.min(asked.unwrap_or(planned).min(LONGEST_ASKED))"),
    domain("webhook/schedule.rs", "1.0 - JITTER + 2.0 * JITTER * chance", "1.0 - JITTER + JITTER * chance"),
    domain("webhook/delivery.rs", "200..300 => None", "200..400 => None"),
    domain("webhook/delivery.rs", "if self.status == Some(GONE) {", "if false {"),
    domain("webhook.rs", "if count < limits::WEBHOOK_ENDPOINTS {", "if count <= limits::WEBHOOK_ENDPOINTS {"),
    domain("webhook.rs", "if pending < limits::TESTED_BACKLOG {", "if pending <= limits::TESTED_BACKLOG {"),
    domain("webhook.rs", "is_other_place || is_enabled_again", "is_enabled_again"),
    Mutant("crates/webhooks/src/signature.rs", 'format!("{id}.{timestamp}.")', 'format!("{timestamp}.{id}.")'),
    # Checks, gaps, widgets and their visitors.
    domain("check.rs", "Some(false) if is_answered => {", "Some(false) if !is_answered => {"),
    domain("check/failure.rs", "if attempt >= limits::CHECK_ATTEMPTS", "if attempt > limits::CHECK_ATTEMPTS"),
    domain("check/run.rs", "if !open.is_empty() {", "if open.contains(&RunStatus::Running) {"),
    domain("check/run.rs", "waited < limits::CHECK_WAIT_MILLIS", "waited <= limits::CHECK_WAIT_MILLIS"),
    domain("check/run.rs", "before.failed_questions() == failed", "before.failed_questions().len() == failed.len()"),
    domain("gap.rs", "self.rated_down == 0 && ", ""),
    domain("gap.rs", "since.is_none_or(|since| asked_at > since)", "since.is_none_or(|since| asked_at < since)"),
    domain("gap.rs", "(GapStatus::Answered | GapStatus::Dismissed, _) => self,", "(GapStatus::Answered, _) => self, (GapStatus::Dismissed, _) => Self { status: GapStatus::Open, ..self },"),
    domain("gap.rs", "(false, true) if is_collected(channel) =>", "(false, true) =>"),
    domain("ports/gaps.rs", "if self.source.is_some() {", "if found.is_some() {"),
    domain("conversation.rs", "let is_first = self.handoff_requested_at.is_none();", "let is_first = true;"),
    domain("usage.rs", "Some(0) | None => None,", "None => None,"),
    domain("widget.rs", "if count < limits::AGENT_WIDGETS {", "if count <= limits::AGENT_WIDGETS {"),
    domain("widget.rs", "Some(retired).filter(|old| old.is_live(now))", "Some(retired)"),
    domain("widget/admission.rs", "(Self::None | Self::Optional, Identification::Anonymous)", "(_, Identification::Anonymous)"),
    domain("widget/identity.rs", "if exp > now + life + leeway {", "if exp > now + life + life {"),
    domain("widget/origins.rs", "!subdomain.is_empty() && subdomain.bytes().all(is_of_name)", "subdomain.bytes().all(is_of_name)"),
    domain("widget/origins.rs", "!subdomain.is_empty() && subdomain.bytes().all(is_of_name)", "!subdomain.is_empty()"),
    domain("widget/visitor.rs", "[Some(user), Some(host), None] if", "[Some(user), Some(host), _] if"),
    # Isolation of agents and accounts, and webhooks.
    Mutant("crates/domain/src/content/stored.rs", "if self.agent_id == agent { Ok(self)", "if true { Ok(self)", "mcp::"),
    domain("webhook/subscription.rs", "self.0.contains(&name)", "!self.0.is_empty()"),
    domain("webhook/delivery.rs", "if *lease.url == *url {", "if !url.is_empty() {"),
    # Prompts.
    Mutant("crates/llm/src/prompt/budget.rs", ".filter(|left| *left >= reserve)", ".filter(|left| *left > reserve)"),
    Mutant("crates/llm/src/prompt.rs", "purse.left() / 4 }", "0 }"),
    # Idempotency: from the request to the row.
    domain("idempotency/record.rs", "if self.fingerprint != fingerprint {", "if false {"),
    domain("idempotency/record.rs", "lease_until, .. } if lease_until <= now", "lease_until, .. } if lease_until < now"),
    domain("idempotency/record.rs", "if *token == claim.token", "if !token.is_empty()"),
    domain("error.rs", "| Self::Validation { .. } => true,", "| Self::Validation { .. } => false,"),
    Mutant("crates/storage/src/idempotency.rs", "if !record.is_some_and(|record| record.is_held_by(claim)) {", "if record.is_none() {", "storage::idempotency"),
    Mutant("crates/http/src/change.rs", "for part in [method, path, query]", "for part in [method, path]", "idempotency::a_key_cannot_be_used"),
    Mutant("crates/http/src/change.rs", "if values.next().is_some() {", "if false {", "idempotency::two_keys"),
    # Answers that only a walk over all routes sees.
    Mutant("crates/http/src/body.rs", "if length > most {", "if false {", "protocol::a_body_beyond"),
]


def run(number, mutant):
    """Whether tests notice the mutant."""
    path = ROOT / mutant.file
    code = path.read_text()
    if code.count(mutant.before) != 1:
        print(f"{number:>3} OUT OF DATE {mutant.file}: `{mutant.before}` occurs {code.count(mutant.before)} times")
        return False
    path.write_text(code.replace(mutant.before, mutant.after))
    try:
        test = subprocess.run(mutant.command(), cwd=ROOT, capture_output=True, text=True)
    finally:
        path.write_text(code)
    output = test.stdout + test.stderr
    # A mutant that does not compile proves nothing.
    noticed = test.returncode != 0 and "test result: FAILED" in output
    word = "noticed" if noticed else "SURVIVED" if test.returncode == 0 else "DID NOT COMPILE"
    failed = [line.split()[0] for line in output.splitlines() if line.startswith("    ") and "::" in line]
    print(f"{number:>3} {word} {mutant.file}: {mutant.after} {failed[:2] if noticed else ''}", flush=True)
    return noticed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", action="store_true", help="only lists them, and checks that each piece of code occurs once")
    parser.add_argument("--crate", help="only those of this crate")
    parser.add_argument("numbers", nargs="*", type=int, help="only these")
    arguments = parser.parse_args()
    chosen = [
        (number, mutant)
        for number, mutant in enumerate(MUTANTS, 1)
        if (not arguments.numbers or number in arguments.numbers)
        and (not arguments.crate or mutant.file.startswith(f"crates/{arguments.crate}/"))
    ]
    if arguments.list:
        gone = 0
        for number, mutant in chosen:
            count = (ROOT / mutant.file).read_text().count(mutant.before)
            gone += count != 1
            print(f"{number:>3} {mutant.file}: {mutant.before} -> {mutant.after}" + (f" (occurs {count} times)" if count != 1 else ""))
        return 1 if gone else 0
    survived = [number for number, mutant in chosen if not run(number, mutant)]
    print(f"{len(chosen) - len(survived)} of {len(chosen)} noticed" + (f"; not noticed: {survived}" if survived else ""))
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
