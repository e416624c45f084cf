//! Internal errors on every route: the database is damaged or unreachable.

use cicerone_tests::postgres::Cluster;
use cicerone_tests::{Answer, Client, Server};
use diesel::sql_types::Text;
use diesel::{Connection as _, QueryableByName, RunQueryDsl as _, SqliteConnection};
use futures_util::future::join_all;

use super::Report;
use crate::routes::{Names, ROUTES, Route};
use crate::world::{own_server, program};

/// The answers of all routes, requested at the same time.
async fn answers(client: &Client, names: &Names) -> Vec<(&'static Route, Answer)> {
    join_all(ROUTES.iter().map(async |route| (route, route.call(client, names).await))).await
}

/// The answer to an internal error is constant, and reveals nothing of its cause.
pub(super) async fn without_tables(mut report: Report) -> Option<Report> {
    let server = own_server();
    let client = server.client();
    let names = Names::of_new(&client).await;
    rename_tables(&server);
    for (route, answer) in answers(&client, &names).await {
        report.refused(route, &answer);
        let text = answer.words();
        let told = ["table", "sql", "diesel", "lost"].into_iter().find(|word| text.contains(word));
        assert_eq!(told, None, "{}: {text}", route.name());
    }
    server.log_with("no such table").await;
    Some(report)
}

/// On PostgreSQL, where the database can become unreachable while the server runs.
pub(super) async fn without_a_database(mut report: Report) -> Option<Report> {
    let cluster = Cluster::shared()?;
    let url = cluster.empty_database();
    let server = Server::of(&program()).env("CICERONE_DATABASE_URL", url.to_string()).start();
    let client = server.client();
    let names = Names::of_new(&client).await;
    cluster.close(&url);
    for (route, answer) in answers(&client, &names).await {
        report.refused(route, &answer);
        assert!(answer.header("retry-after").is_some(), "{}", route.name());
    }
    Some(report)
}

/// Renames every table while the server runs.
pub(crate) fn rename_tables(server: &Server) {
    #[derive(QueryableByName)]
    struct Table {
        #[diesel(sql_type = Text)]
        name: String,
    }
    let path = server.data().join("cicerone.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    diesel::sql_query("PRAGMA busy_timeout = 5000").execute(&mut connection).unwrap();
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    let tables: Vec<Table> = diesel::sql_query(tables).load(&mut connection).unwrap();
    for Table { name } in tables {
        let rename = format!("ALTER TABLE \"{name}\" RENAME TO \"lost_{name}\"");
        diesel::sql_query(rename).execute(&mut connection).unwrap();
    }
}
