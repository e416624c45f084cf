//! Tokens made by another library, and malicious tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cicerone_domain::Timestamp;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{BadIdentity, BadToken, Identity, verify};
use cicerone_domain::limits::IDENTITY_BYTES;

const SECRET: &[u8] = b"wids_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const NOW: i64 = 1_790_000_000;

/// Tokens made by PyJWT 2 with [`SECRET`], unless their names say otherwise.
const COMPLETE: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1c2VyLTciLCJleHAiOjE3OTAwMDM2MDAsImlhdCI6MTc5MDAwMDAwMCwibmJmIjoxNzkwMDAwMDAwLCJuYW1lIjoiWm9cdTAwZWIiLCJlbWFpbCI6InpvZUBtdXNldW0uZXhhbXBsZSIsInJvbGUiOiJ4In0.jwsL6KgRfDYwjENNJ4FQuWZM2bymW-S89dFnHn64Tuw";
const SHORT: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1c2VyLTciLCJleHAiOjE3OTAwMDAwNjB9.1HkJsEjaUPWPvMfUWkegOqwjJUdiRGYQZkd80qxMAJE";
const WITHOUT_TYPE: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c2VyLTciLCJleHAiOjE3OTAwMDM2MDB9.lNL5lnK3RPn917ktuGzaivpTuTOO0TfOgu0115ozegY";
const NONE: &str =
    "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiJ1c2VyLTciLCJleHAiOjE3OTAwMDM2MDB9.";
const HS384: &str = "eyJhbGciOiJIUzM4NCIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1c2VyLTciLCJleHAiOjE3OTAwMDM2MDB9.jD8-unEiaDmoJmheu2IaCyQj93URq4BgR-mLAZS_qxgGbgHA7uoV5v2BmYA72rWI";
const CRITICAL: &str = "eyJhbGciOiJIUzI1NiIsImNyaXQiOlsiYjY0Il0sInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1c2VyLTciLCJleHAiOjE3OTAwMDM2MDB9.g3omVRiVhngKCKRGtNaubSN82E9WQSsU2lZa0PsbGGA";
const OTHER_TYPE: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJ1c2VyLTciLCJleHAiOjE3OTAwMDM2MDB9.0P-gFJF_b1-qnDwWeKbYdShwEUpJ2r9hfRmXjxvpT_4";
const OTHER_KEY: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1c2VyLTciLCJleHAiOjE3OTAwMDM2MDB9.DENAJnzIUTVX7HTca3qKdFGLxQ7Uj-TGaGksW4GI2t4";

fn at(token: &str, seconds: i64) -> Result<Identity, BadToken> {
    verify(token, [&b"wids_the-one-before"[..], SECRET], Timestamp::from_millis(seconds * 1_000))
}

fn now(token: &str) -> Result<Identity, BadToken> {
    at(token, NOW)
}

fn signed(header: &str, claims: &str) -> String {
    let parts = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
    let mac = Hmac::<Sha256>::new_from_slice(SECRET).unwrap().chain_update(&parts);
    format!("{parts}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

fn claims(claims: &Value) -> Result<Identity, BadToken> {
    now(&signed(r#"{"alg":"HS256","typ":"JWT"}"#, &claims.to_string()))
}

#[test]
fn tokens_of_another_library_are_verified() {
    let zoe = now(COMPLETE).unwrap();
    assert_eq!(zoe.subject(), "user-7");
    assert_eq!((zoe.name(), zoe.email()), (Some("Zoë"), Some("zoe@museum.example")));
    assert!(now(SHORT).is_ok() && now(WITHOUT_TYPE).is_ok());
    for (token, refusal) in [
        (NONE, BadToken::Algorithm),
        (HS384, BadToken::Algorithm),
        (CRITICAL, BadToken::Critical),
        (OTHER_TYPE, BadToken::Type),
        (OTHER_KEY, BadToken::Signature),
    ] {
        assert_eq!(now(token), Err(refusal), "{token}");
    }
}

#[test]
fn times_are_kept_with_a_minute_for_clocks_that_differ() {
    // It expires at `NOW + 60`.
    assert!(at(SHORT, NOW + 119).is_ok());
    assert_eq!(at(SHORT, NOW + 120), Err(BadToken::Identity(BadIdentity::Expired)));
    let day = 24 * 60 * 60;
    let after = |seconds: i64| claims(&json!({"sub": "u", "exp": NOW + seconds}));
    assert!(after(day + 60).is_ok());
    assert_eq!(after(day + 61), Err(BadToken::Identity(BadIdentity::TooLasting)));
    for name in ["nbf", "iat"] {
        let from =
            |seconds: i64| claims(&json!({"sub": "u", "exp": NOW + 99, name: NOW + seconds}));
        assert!(from(60).is_ok() && from(-9_999_999).is_ok());
        assert_eq!(from(61), Err(BadToken::Identity(BadIdentity::TooEarly)));
    }
    assert!(claims(&json!({"sub": "u", "exp": 1_790_000_010.5})).is_ok());
}

#[test]
fn claims_have_their_types_and_lengths() {
    let exp = NOW + 99;
    let long = |chars| "é".repeat(chars);
    for (bad, refusal) in [
        (json!({"sub": "u"}), BadToken::Identity(BadIdentity::NoExpiry)),
        (json!({"sub": "u", "exp": null}), BadToken::Identity(BadIdentity::NoExpiry)),
        (json!({"sub": "u", "exp": "tomorrow"}), BadToken::Claims),
        (json!({"sub": "u", "exp": 1e300}), BadToken::Identity(BadIdentity::TooLasting)),
        (json!({"sub": "u", "exp": -1}), BadToken::Identity(BadIdentity::Expired)),
        (json!({"exp": exp}), BadToken::Identity(BadIdentity::Subject)),
        (json!({"sub": "", "exp": exp}), BadToken::Identity(BadIdentity::Subject)),
        (json!({"sub": 7, "exp": exp}), BadToken::Claims),
        (json!({"sub": "a\0b", "exp": exp}), BadToken::Identity(BadIdentity::Subject)),
        (json!({"sub": long(201), "exp": exp}), BadToken::Identity(BadIdentity::Subject)),
        (json!({"sub": "u", "exp": exp, "name": long(101)}), BadToken::Identity(BadIdentity::Name)),
        (
            json!({"sub": "u", "exp": exp, "email": long(255)}),
            BadToken::Identity(BadIdentity::Email),
        ),
        (json!(["sub", "exp"]), BadToken::Claims),
        (json!("u"), BadToken::Claims),
    ] {
        assert_eq!(claims(&bad), Err(refusal), "{bad}");
    }
    let whole = json!({"sub": long(200), "exp": exp, "name": long(100), "email": long(254)});
    assert!(claims(&whole).is_ok());
    let header = r#"{"alg":"HS256"}"#;
    let twice = format!(r#"{{"sub":"u","sub":"admin","exp":{exp}}}"#);
    assert_eq!(now(&signed(header, &twice)), Err(BadToken::Claims));
    let beyond = format!(r#"{{"sub":"u","exp":{exp},"exp":1e999}}"#);
    assert_eq!(now(&signed(header, &beyond)), Err(BadToken::Claims));
}

#[test]
fn a_token_that_was_changed_is_refused() {
    let (signed_part, signature) = COMPLETE.rsplit_once('.').unwrap();
    let claims = URL_SAFE_NO_PAD.encode(format!(r#"{{"sub":"admin","exp":{}}}"#, NOW + 99));
    let header = signed_part.split_once('.').unwrap().0;
    for token in [
        format!("{header}.{claims}.{signature}"),
        format!("{signed_part}."),
        format!("{signed_part}.{}", signature.get(..24).unwrap()),
        format!("{signed_part}.{}", URL_SAFE_NO_PAD.encode([0; 32])),
    ] {
        assert_eq!(now(&token), Err(BadToken::Signature), "{token}");
    }
    let no_secret: [&[u8]; 0] = [];
    let moment = Timestamp::from_millis(NOW * 1_000);
    assert_eq!(verify(COMPLETE, no_secret, moment), Err(BadToken::Signature));
}

#[test]
fn every_other_spelling_of_a_token_is_refused() {
    let (signed_part, signature) = COMPLETE.rsplit_once('.').unwrap();
    for token in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "x.y.z".to_owned(),
        format!("{COMPLETE}="),
        format!("{COMPLETE}.{signature}"),
        format!("{signed_part}.{}", signature.replace('-', "+")),
        format!(" {COMPLETE}"),
        // The last character of 43 has two bits that no byte uses.
        format!("{}x", COMPLETE.strip_suffix('w').unwrap()),
        signed("{}", "{}"),
        signed("[]", "{}"),
        signed(r#"{"alg":null}"#, "{}"),
        signed(r#"{"alg":["HS256"]}"#, "{}"),
        signed(r#"{"alg":"none","alg":"HS256"}"#, "{}"),
        signed(&"[".repeat(900), "{}"),
    ] {
        assert_eq!(now(&token), Err(BadToken::Malformed), "{token}");
    }
    for algorithm in ["none", "None", "NONE", "hs256", "HS256 ", "HS512", "RS256", "ES256", ""] {
        let header = json!({"alg": algorithm}).to_string();
        assert_eq!(now(&signed(&header, "{}")), Err(BadToken::Algorithm), "{algorithm}");
    }
    let critical = signed(r#"{"alg":"HS256","crit":null}"#, "{}");
    assert_eq!(now(&critical), Err(BadToken::Critical));
    assert_eq!(now(&"a".repeat(IDENTITY_BYTES)), Err(BadToken::Malformed));
    assert_eq!(now(&"a".repeat(IDENTITY_BYTES + 1)), Err(BadToken::TooLong));
}
