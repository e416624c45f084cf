//! Signatures: symmetric, version 1 of Standard Webhooks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cicerone_domain::webhook::WebhookSecret;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The value of `webhook-signature` for a body: `v1,` and base64 of HMAC-SHA256 over
/// `id.timestamp.body`, one for each secret, separated by spaces. `timestamp` is in seconds since 1970.
pub fn sign(secrets: &[WebhookSecret], id: &str, timestamp: i64, body: &[u8]) -> String {
    let signatures: Vec<String> =
        secrets.iter().map(|secret| signature(secret, id, timestamp, body)).collect();
    signatures.join(" ")
}

#[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
fn signature(secret: &WebhookSecret, id: &str, timestamp: i64, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(&secret.key()).expect("a key of any length");
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::sign;

    /// The example from the tests of the reference libraries.
    #[test]
    fn the_published_vector_holds() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let body = br#"{"test": 2432232314}"#;
        let signature = sign(&[secret], id, 1_614_265_330, body);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn each_secret_signs() {
        let secrets: Vec<_> = ["whsec_AAAA", "whsec_BBBB"].map(|s| s.parse().unwrap()).into();
        let both = sign(&secrets, "evt_1", 1, b"{}");
        let each: Vec<_> =
            secrets.iter().map(|s| sign(std::slice::from_ref(s), "evt_1", 1, b"{}")).collect();
        assert_eq!(both, each.join(" "));
        assert_ne!(each[0], each[1]);
    }
}
