//! Whether this processor can run the C++ that was built: code for a newer one ends the process at the first
//! instruction that is missing.

use crate::error::IndexError;

/// The compiler flags that the C++ was built with, as far as the environment of the build said.
const FLAGS: [Option<&str>; 2] = [option_env!("CXXFLAGS_x86_64_unknown_linux_gnu"), option_env!("CXXFLAGS")];

/// Refuses a processor that lacks what the build asks for.
pub(super) fn check() -> Result<(), IndexError> {
    check_flags(FLAGS.into_iter().flatten())
}

fn check_flags<'a>(flags: impl Iterator<Item = &'a str>) -> Result<(), IndexError> {
    for word in flags.flat_map(str::split_ascii_whitespace) {
        if let Some(level) =
            ["x86-64-v3", "x86-64-v4"].into_iter().find(|level| word == format!("-march={level}"))
            && !supports(level)
        {
            return Err(IndexError::Processor { needs: level.to_owned() });
        }
    }
    Ok(())
}

#[cfg(target_arch = "x86_64")]
fn supports(level: &str) -> bool {
    let v3 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("movbe");
    let v4 = || {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
    };
    v3 && (level != "x86-64-v4" || v4())
}

#[cfg(not(target_arch = "x86_64"))]
fn supports(_level: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_name_what_is_needed() {
        assert!(check_flags(["-O3 -march=x86-64", ""].into_iter()).is_ok());
        let v4 = check_flags(["-g -march=x86-64-v4"].into_iter());
        assert_eq!(v4.is_ok(), supports("x86-64-v4"));
        if let Err(error) = v4 {
            assert!(error.to_string().contains("x86-64-v4"), "{error}");
        }
    }
}
