//! `GET /v1/me`

use cicerone_tests::Server;
use cicerone_tests::scenario::id;
use cicerone_tests::upstream::Upstream;
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{account, own_server, program};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/me",
    cases: &[("200", a_key_sees_its_account_itself_the_quotas_and_the_capabilities)],
};

#[tokio::test]
async fn a_key_sees_its_account_itself_the_quotas_and_the_capabilities() {
    let server = own_server();
    let client = server.account("museum");
    let me = client.get("/v1/me").await.expect(200);
    assert!(me["account"]["id"].as_str().unwrap().starts_with("acct_"), "{me}");
    assert_eq!(me["account"]["name"], "museum");
    let key_id = me["api_key"]["id"].as_str().unwrap();
    let listed = client.get(&format!("/v1/api_keys/{key_id}")).await.expect(200);
    for field in ["id", "name", "permissions", "agent_ids", "expires_at", "created_at", "hint"] {
        assert_eq!(me["api_key"][field], listed[field], "{field}");
    }
    assert_eq!(me["api_key"]["permissions"], json!(["*"]));
    let nothing = json!({ "limit": null, "used": 0 });
    for quota in ["messages", "tokens", "bytes"] {
        assert_eq!(me["quotas"][quota], nothing, "{quota}");
    }
    assert!(me["quotas"]["renewed_at"].as_str().unwrap().ends_with("-01T00:00:00.000Z"), "{me}");
    assert_eq!(
        me["capabilities"],
        json!({
            "max_upload_bytes": 10_485_760,
            "models": ["gpt-4-turbo", "gpt-4o", "gpt-3.5-turbo"],
            "has_upstream": false,
            "public_url": null,
        })
    );
}

#[tokio::test]
async fn quotas_show_their_limits_and_what_is_used() {
    let server = own_server();
    let client = server.account("small");
    server.succeed(&["account", "limit", "small", "--messages", "3", "--bytes", "100000"]);
    let agent = client.agent().await;
    client.ask(&agent, "Hello there").await;
    client.source(&agent, "text", "The museum opens at nine.").await;
    let quotas = client.get("/v1/me").await.expect(200)["quotas"].clone();
    assert_eq!(quotas["messages"], json!({ "limit": 3, "used": 1 }));
    assert_eq!(quotas["bytes"]["limit"], 100_000);
    assert!(quotas["bytes"]["used"].as_u64().unwrap() >= 25, "{quotas}");
    assert_eq!(quotas["tokens"]["limit"], Value::Null);
}

#[tokio::test]
async fn any_key_sees_itself_and_one_within_agents_does_not_see_what_others_use() {
    let owner = account();
    let agent = owner.agent().await;
    owner.ask(&agent, "Hello there").await;
    for permission in ["agents:read", "webhooks:write", "conversations:write"] {
        let body = json!({ "name": permission, "permissions": [permission] });
        let made = owner.post("/v1/api_keys", body).await.expect(201);
        let me = owner.with_key(made["key"].as_str().unwrap()).get("/v1/me").await.expect(200);
        assert_eq!(me["api_key"]["id"], id(&made));
        assert_eq!(me["api_key"]["permissions"], json!([permission]));
        assert_eq!(me["quotas"]["messages"]["used"], 1);
    }
    let body = json!({ "name": "Guide", "permissions": ["*"], "agent_ids": [agent] });
    let made = owner.post("/v1/api_keys", body).await.expect(201);
    let me = owner.with_key(made["key"].as_str().unwrap()).get("/v1/me").await.expect(200);
    assert_eq!(me["api_key"]["agent_ids"], json!([agent]));
    for quota in ["messages", "tokens", "bytes"] {
        assert_eq!(me["quotas"][quota], json!({ "limit": null, "used": null }), "{quota}");
    }
}

#[tokio::test]
async fn configured_models_and_upstreams_are_shown() {
    let upstream = Upstream::start([]).await;
    let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    let url = upstream.url();
    let settings = format!(
        "[models.upstreams.local]\nbase_url = \"{url}\"\n\n[models.routes.llama]\nupstream = \"local\"\n"
    );
    std::fs::write(&file, settings).unwrap();
    let server =
        Server::of(&program()).env("CICERONE_CONFIG", file.display().to_string()).start_in(data);
    let me = server.client().get("/v1/me").await.expect(200);
    assert_eq!(
        me["capabilities"]["models"],
        json!(["gpt-4-turbo", "gpt-4o", "gpt-3.5-turbo", "llama"])
    );
    assert_eq!(me["capabilities"]["has_upstream"], true);
}
