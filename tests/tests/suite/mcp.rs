//! `POST /mcp/agents/{agent_id}`: the Model Context Protocol.

mod caller;
mod clients;

mod eras;
mod forwarding;
mod hostile;
mod hosts;
mod memory;
mod program;
mod tools;

use crate::coverage::Covers;

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "POST /mcp/agents/{agent_id}",
    cases: &[
        ("200", eras::both_eras_show_the_same_agent_and_tools),
        ("202", eras::a_notification_is_accepted_without_a_body),
        ("400", hostile::what_is_not_one_message_is_refused),
        ("403", hosts::forged_hosts_and_origins_are_refused_with_the_name_of_the_setting),
        ("404", tools::the_agent_of_another_account_does_not_exist),
    ],
};
