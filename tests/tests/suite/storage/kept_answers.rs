//! Answers that were stored in three columns are converted to one text, and are replayed unchanged.

use cicerone_domain::idempotency::{Claimed, KeptAnswer};
use cicerone_storage::migrations;

use super::fixture::on_each;

/// Status, media type and body as they were stored, and the converted text.
const ANSWERS: [(u16, Option<&str>, &str, &str); 3] = [
    (201, Some("application/json"), "{\"name\": \"Ü\"}", "201 application/json\n{\"name\": \"Ü\"}"),
    (204, None, "", "204 \n"),
    (404, Some("application/json"), "{}", "404 application/json\n{}"),
];

#[tokio::test]
async fn answers_in_three_columns_become_one_text() {
    on_each(async |world| {
        let keys: Vec<String> =
            ANSWERS.iter().map(|(status, ..)| format!("key-{status}")).collect();
        for key in &keys {
            world.claim(key).await;
        }
        let name = "kept_answers";
        while migrations::revert(&world.url).unwrap().is_some_and(|last| !last.contains(name)) {}
        for (key, (status, media_type, body, _)) in keys.iter().zip(ANSWERS) {
            let media_type = media_type.map_or("NULL".to_owned(), |text| format!("'{text}'"));
            let body = body.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
            let body = match world.url.sqlite_path() {
                Some(_) => format!("x'{body}'"),
                None => format!("'\\x{body}'::bytea"),
            };
            world.execute(&format!(
                "UPDATE idempotency SET state = 'completed', status = {status},
                 content_type = {media_type}, body = {body} WHERE idempotency_key = '{key}'"
            ));
        }

        migrations::run(&world.url).unwrap();
        let check = async || {
            for (key, (status, _, _, content)) in keys.iter().zip(ANSWERS) {
                let Claimed::Replay(answer, audience) = world.repeat(key).await else {
                    panic!("the answer of `{key}` is lost");
                };
                let is_refusal = status >= 400;
                let content = content.as_bytes().to_vec();
                assert_eq!(answer, KeptAnswer { content, is_refusal, subject: None });
                assert_eq!(audience.is_refusal, is_refusal);
            }
        };
        check().await;
        while migrations::revert(&world.url).unwrap().is_some_and(|last| !last.contains(name)) {}
        for (key, (status, media_type, ..)) in keys.iter().zip(ANSWERS) {
            let media_type = media_type.map_or("content_type IS NULL".to_owned(), |text| {
                format!("content_type = '{text}'")
            });
            let row = format!("idempotency_key = '{key}' AND status = {status} AND {media_type}");
            assert_eq!(world.count_where("idempotency", &row), 1, "{row}");
        }
        migrations::run(&world.url).unwrap();
        check().await;
    })
    .await;
}
