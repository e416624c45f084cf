//! The operations that need no key, apart from those of widgets: their documented answers.

use cicerone_tests::Server;
use cicerone_tests::postgres::Cluster;

use crate::coverage::Covers;
use crate::walks::rename_tables;
use crate::world::{NO_DOCUMENT, program};
use crate::{book, operations, public};

/// The tests of each of these operations.
pub(crate) const COVERS: &[Covers] = &[
    Covers {
        route: "GET /docs",
        cases: &[("200", book::every_page_of_the_book_is_served_and_needs_nothing_from_elsewhere)],
    },
    Covers {
        route: "GET /docs/{asset}",
        cases: &[
            ("200", book::the_reference_page_needs_nothing_from_elsewhere),
            ("404", book::the_reference_page_needs_nothing_from_elsewhere),
        ],
    },
    Covers { route: "GET /healthz", cases: &[("200", operations::health_needs_no_key)] },
    Covers {
        route: "GET /metrics",
        cases: &[
            ("200", operations::metrics_are_prometheus_text_without_tenant_data),
            ("404", metrics_that_are_turned_off_are_not_found),
            (
                "429",
                operations::strangers_can_neither_enlarge_the_metrics_nor_ask_for_them_without_end,
            ),
        ],
    },
    Covers {
        route: "GET /readyz",
        cases: &[
            ("200", operations::health_needs_no_key),
            ("503", a_database_that_is_gone_makes_the_server_unready),
        ],
    },
    Covers {
        route: "GET /s/{document_id}",
        cases: &[
            ("200", public::a_public_text_is_a_page_that_loads_nothing),
            ("404", public::what_is_unknown_private_or_deleted_gets_the_same_answer),
            ("429", public::requests_of_an_address_are_limited),
            ("500", a_public_page_of_a_damaged_database_is_an_internal_error),
            ("503", a_database_that_is_gone_makes_the_server_unready),
        ],
    },
    Covers {
        route: "GET /v1/openapi.json",
        cases: &[("200", operations::the_contract_needs_no_key_and_is_that_of_the_command_line)],
    },
];

/// Operations that read nothing that could be damaged: nobody can provoke their internal error.
pub(crate) const INFALLIBLE: [&str; 6] = [
    "GET /docs",
    "GET /docs/{asset}",
    "GET /healthz",
    "GET /metrics",
    "GET /readyz",
    "GET /v1/openapi.json",
];

#[tokio::test]
async fn metrics_that_are_turned_off_are_not_found() {
    let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, "[http]\nmetrics = false\n").unwrap();
    let server =
        Server::of(&program()).env("CICERONE_CONFIG", file.display().to_string()).start_in(data);
    server.client().anonymous().get("/metrics").await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_public_page_of_a_damaged_database_is_an_internal_error() {
    let server = public::public_server();
    rename_tables(&server);
    let path = format!("/s/{NO_DOCUMENT}");
    server.client().anonymous().get(&path).await.refused(500, "internal_error");
}

#[tokio::test]
async fn a_database_that_is_gone_makes_the_server_unready() {
    let Some(cluster) = Cluster::shared() else { return };
    let url = cluster.empty_database();
    let server = Server::of(&program())
        .env("CICERONE_DATABASE_URL", url.to_string())
        .env("CICERONE_PUBLIC_URL", public::ADDRESS)
        .start();
    let client = server.client().anonymous();
    assert_eq!(client.get("/readyz").await.status, 200);
    cluster.close(&url);
    client.get("/readyz").await.refused(503, "service_unavailable");
    client.get(&format!("/s/{NO_DOCUMENT}")).await.refused(503, "service_unavailable");
    assert_eq!(client.get("/healthz").await.status, 200, "the process runs");
}
