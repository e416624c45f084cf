//! The routes of what belongs to an account as a whole.

use actix_web::http::Method;
use cicerone_domain::audit::AuditAction;
use cicerone_domain::webhook::DeliveryStatus;

use super::{QUERY, paging};
use crate::endpoint::AnswerSchema::{Empty, Json, List};
use crate::endpoint::Endpoint;
use crate::handlers::{audit, keys, usage, webhooks};
use crate::openapi::parameters::{agent, day, moment, one_of};

/// All of them, in the order of the documentation.
pub(super) fn routes() -> Vec<Endpoint> {
    [webhook_routes(), delivery_routes(), key_routes(), log_routes()]
        .into_iter()
        .flatten()
        .collect()
}

fn webhook_routes() -> Vec<Endpoint> {
    let (all, one) = ("/v1/webhook_endpoints", "/v1/webhook_endpoints/{endpoint_id}");
    let rotate = "/v1/webhook_endpoints/{endpoint_id}/rotate_secret";
    let bad = "A required field is missing, or a field has a bad value, such as an address that may \
        not be asked.";
    vec![
        Endpoint::new(
            Method::POST,
            all,
            "createWebhookEndpoint",
            "Create a webhook endpoint",
            webhooks::create,
        )
        .details(
            "Events of all agents of the account are sent to it as Standard Webhooks has it: \
             `webhook-id`, `webhook-timestamp` and `webhook-signature` over `id.timestamp.body`. \
             The answer holds the `secret` of the signatures.",
        )
        .json("CreateWebhookEndpoint")
        .keyed()
        .gives(201, Json("IssuedWebhookEndpoint"))
        .refuses(400, bad)
        .refuses(409, "The account has 10 endpoints, or the same request is being carried out."),
        Endpoint::new(
            Method::GET,
            all,
            "listWebhookEndpoints",
            "List webhook endpoints",
            webhooks::list,
        )
        .details("Newest first.")
        .query(paging())
        .gives(200, List("WebhookEndpoint"))
        .refuses(400, QUERY),
        Endpoint::new(
            Method::GET,
            one,
            "getWebhookEndpoint",
            "Retrieve a webhook endpoint",
            webhooks::find,
        )
        .gives(200, Json("WebhookEndpoint")),
        Endpoint::new(
            Method::PATCH,
            one,
            "updateWebhookEndpoint",
            "Update a webhook endpoint",
            webhooks::update,
        )
        .details(
            "Only the fields given change. While it is disabled nothing is sent; what was pending \
             goes on when it is enabled.",
        )
        .json("UpdateWebhookEndpoint")
        .keyed()
        .gives(200, Json("WebhookEndpoint"))
        .refuses(400, bad),
        Endpoint::new(
            Method::DELETE,
            one,
            "deleteWebhookEndpoint",
            "Delete a webhook endpoint",
            webhooks::delete,
        )
        .details("Removes it with its deliveries.")
        .keyed()
        .gives(204, Empty),
        Endpoint::new(
            Method::POST,
            rotate,
            "rotateWebhookSecret",
            "Replace the secret",
            webhooks::rotate_secret,
        )
        .details("The answer holds the new `secret`. The one of before signs too for 24 hours.")
        .keyed()
        .gives(200, Json("IssuedWebhookEndpoint"))
        .refuses(409, "Ten secrets sign at present, or the same request is being carried out."),
    ]
}

fn delivery_routes() -> Vec<Endpoint> {
    let all = "/v1/webhook_endpoints/{endpoint_id}/deliveries";
    let test = "/v1/webhook_endpoints/{endpoint_id}/test";
    let again = "/v1/webhook_endpoints/{endpoint_id}/deliveries/{delivery_id}/redeliver";
    let disabled = "The endpoint is disabled, or the same request is being carried out.";
    let statuses = DeliveryStatus::ALL.map(DeliveryStatus::name);
    vec![
        Endpoint::new(
            Method::POST,
            test,
            "testWebhookEndpoint",
            "Test a webhook endpoint",
            webhooks::test,
        )
        .details("Queues a `ping` event for it, whatever events it takes.")
        .keyed()
        .gives(202, Json("Delivery"))
        .refuses(409, disabled),
        Endpoint::new(Method::GET, all, "listDeliveries", "List deliveries", webhooks::deliveries)
            .details("Newest first, of the last days.")
            .query(paging())
            .query([one_of("status", &statuses, "Only deliveries of this status.")])
            .gives(200, List("Delivery"))
            .refuses(400, QUERY),
        Endpoint::new(
            Method::POST,
            again,
            "redeliver",
            "Send a delivery again",
            webhooks::redeliver,
        )
        .details("At once, with the same `webhook-id`, and with all repetitions where it fails.")
        .keyed()
        .gives(202, Json("Delivery"))
        .refuses(409, disabled),
    ]
}

fn key_routes() -> Vec<Endpoint> {
    let (all, one) = ("/v1/api_keys", "/v1/api_keys/{key_id}");
    let wider = "The key that is used lacks a permission: the one that this needs, or one of the key \
        that is made, changed or deleted.";
    let bounds = "A required field is missing, a field has a bad value, or the key would be \
        restricted less than the one that is used.";
    vec![
        Endpoint::new(Method::POST, all, "createApiKey", "Create an API key", keys::create)
            .details(
                "The only answer that shows `key`; a repetition with the same idempotency key does \
                 not. A key makes none that is wider than itself: in permissions, agents or time. An \
                 account has at most 1,000 keys; expired ones give way to new ones.",
            )
            .json("CreateApiKey")
            .keyed()
            .gives(201, Json("IssuedApiKey"))
            .refuses(400, bounds)
            .refuses(403, wider)
            .refuses(409, "The account has 1,000 keys, or the same request is being carried out."),
        Endpoint::new(Method::GET, all, "listApiKeys", "List API keys", keys::list)
            .details("Newest first. A key that is restricted to agents sees those within the same.")
            .query(paging())
            .gives(200, List("ApiKey"))
            .refuses(400, QUERY),
        Endpoint::new(Method::GET, one, "getApiKey", "Retrieve an API key", keys::find)
            .gives(200, Json("ApiKey")),
        Endpoint::new(Method::PATCH, one, "updateApiKey", "Update an API key", keys::update)
            .details(
                "Only the fields given change. A key changes only keys that it covers: both before and \
                 after the change they are no wider than itself in permissions, agents and time.",
            )
            .json("UpdateApiKey")
            .keyed()
            .gives(200, Json("ApiKey"))
            .refuses(400, bounds)
            .refuses(403, wider),
        Endpoint::new(Method::DELETE, one, "deleteApiKey", "Delete an API key", keys::delete)
            .details(
                "It stops to work within a second. A key deletes only keys that it covers: those no \
                 wider than itself in permissions, agents and time.",
            )
            .keyed()
            .gives(204, Empty)
            .refuses(400, "A key cannot delete itself, or one that is restricted less.")
            .refuses(403, wider),
    ]
}

fn log_routes() -> Vec<Endpoint> {
    let log = "/v1/audit_log";
    let actions = AuditAction::ALL.map(AuditAction::name);
    vec![
        Endpoint::new(Method::GET, log, "listAuditLog", "List the audit log", audit::list)
            .details(
                "Newest first: keys, webhook endpoints, deletions and failed authentications. A key \
                 that is restricted to agents sees none.",
            )
            .query(paging())
            .query([
                one_of("action", &actions, "Only records of this action."),
                moment("created_after", "Only records after this moment."),
                moment("created_before", "Only records before this moment."),
            ])
            .gives(200, List("AuditRecord"))
            .refuses(400, QUERY),
        Endpoint::new(Method::GET, "/v1/usage", "listUsage", "List usage", usage::list)
            .details("By day and agent, the latest day first.")
            .query(paging())
            .query([
                day("from", "From this day on."),
                day("to", "Up to this day, included."),
                agent("Only this agent."),
            ])
            .gives(200, List("Usage"))
            .refuses(400, QUERY),
    ]
}
