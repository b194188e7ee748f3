//! The connection: time limits, trusted certificates, no retries, no redirects.

use std::sync::Arc;

use reqwest::{Client, Proxy, header, redirect};
use rustls::{ClientConfig, RootCertStore, crypto::CryptoProvider};
use rustls_platform_verifier::BuilderVerifierExt;

use super::config::{ConfigError, HttpConfig};

/// Makes the client for a server with these settings; `is_encrypted`: whether its address is `https`.
pub(super) fn client(config: &HttpConfig, is_encrypted: bool) -> Result<Client, ConfigError> {
    let failed = |message: String| ConfigError::Client { message };
    let mut headers = header::HeaderMap::new();
    if let Some(key) = &config.key {
        let mut value = header::HeaderValue::from_str(&format!("Bearer {}", key.expose()))
            .map_err(|_| ConfigError::Key { problem: "it cannot be sent in a header" })?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    let tls = tls(is_encrypted || config.proxy.is_some()).map_err(|error| failed(error.to_string()))?;
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("fta-llm/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .connect_timeout(config.connect_timeout)
        .read_timeout(config.read_timeout)
        .timeout(config.total_timeout)
        // Retries are a decorator's work, and a redirected request would lose its body or leak its key.
        .retry(reqwest::retry::never())
        .redirect(redirect::Policy::none())
        // Also keeps proxies of the environment out.
        .no_proxy();
    if let Some(proxy) = &config.proxy {
        builder = builder.proxy(Proxy::all(proxy).map_err(|_| ConfigError::Proxy)?);
    }
    builder.build().map_err(|error| failed(error.without_url().to_string()))
}

/// Trusts the system's certificates; where there are none, as in small containers, those of Mozilla's program.
///
/// The provider is passed rather than installed: a library leaves the process's default alone.
fn tls(is_needed: bool) -> Result<ClientConfig, rustls::Error> {
    let provider: Arc<CryptoProvider> = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        || ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    if is_needed && let Ok(trusting) = builder()?.with_platform_verifier() {
        return Ok(trusting.with_no_client_auth());
    }
    let bundled: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    Ok(builder()?.with_root_certificates(bundled).with_no_client_auth())
}
