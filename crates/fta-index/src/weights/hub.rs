//! Downloads from the Hugging Face hub.

use std::time::Duration;

use super::Progress;
use super::local::Cache;
use super::spec::{FileSpec, ModelSpec};

/// How long the hub may take to answer a first, small question. Where a network refuses the hub by letting
/// connections hang, this is what it costs.
const FIRST_ANSWER: Duration = Duration::from_secs(5);

/// How long a running download may stand still.
const STALL: Duration = Duration::from_secs(30);

/// Fetches the files that the cache lacks.
///
/// # Errors
/// What went wrong, for the user.
pub(super) fn fetch(
    base_url: &str,
    spec: &ModelSpec,
    cache: &Cache<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_resolve(Some(FIRST_ANSWER))
        .timeout_connect(Some(FIRST_ANSWER))
        .timeout_recv_response(Some(STALL))
        .timeout_per_read(Some(STALL))
        .build()
        .into();
    let url = |file: &FileSpec| {
        format!("{}/{}/resolve/{}/{}", base_url.trim_end_matches('/'), spec.repo, spec.revision, file.name)
    };
    let missing = cache.missing(&mut |_| {}).map_err(|error| error.to_string())?;
    // The smallest file stands for all: whether the hub can be reached is known before a long download.
    let Some((probe, _)) = missing.iter().min_by_key(|(file, _)| file.bytes) else { return Ok(()) };
    let probe_url = url(probe);
    progress(Progress::Connecting { url: &probe_url });
    let probing = agent.head(&probe_url).config().timeout_global(Some(FIRST_ANSWER)).build().call();
    probing.map_err(|error| format!("`{probe_url}`: {error}"))?;

    for (file, _) in missing {
        let url = url(file);
        let response = agent.get(&url).call().map_err(|error| format!("`{url}`: {error}"))?;
        // One byte more than expected is let through, for the store to find the file too long.
        let body = response.into_body().into_with_config().limit(file.bytes + 1).reader();
        cache.store(file, body, |done| {
            progress(Progress::Downloading { file: file.name, done, total: file.bytes });
        })?;
    }
    Ok(())
}
