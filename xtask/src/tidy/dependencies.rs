//! Who may depend on whom. The table is explained in `docs/src/internals/architecture.md`.

use crate::workspace::Package;

/// A crate and those of ours that it may depend on.
const ALLOWED: [(&str, &[&str]); 10] = [
    ("fta-llm", &[]),
    ("fta-index", &[]),
    ("fta-segment", &["fta-llm", "fta-index"]),
    ("fta-units", &["fta-segment", "fta-llm", "fta-index"]),
    ("fta-retrieve", &["fta-units", "fta-segment", "fta-llm", "fta-index"]),
    ("fta-mem", &["fta-retrieve", "fta-units", "fta-segment", "fta-llm", "fta-index"]),
    // Besides the facade the ports that it re-exports; the data sets need the dialogue types without the facade.
    ("fta-eval", &["fta-mem", "fta-segment", "fta-index"]),
    // Of fta-eval only the data sets (docs/src/decisions/0005-loaders.md).
    ("fta-cli", &["fta-mem", "fta-eval"]),
    ("fta-tests", &["fta-mem", "fta-eval", "fta-cli", "fta-index", "fta-segment", "fta-llm"]),
    ("xtask", &[]),
];

/// Crates of the domain, which use other crates' ports and never their back ends.
const DOMAIN: [&str; 3] = ["fta-segment", "fta-units", "fta-retrieve"];

/// What belongs to binaries and servers, and to no library.
const NOT_IN_LIBRARIES: [&str; 4] = ["anyhow", "axum", "clap", "rmcp"];

/// The only feature of a port crate that domain crates may ask for, and only in tests.
const TEST_FEATURE: &str = "testing";

/// Compares the manifests with the table.
pub(super) fn check(packages: &[Package]) -> Vec<String> {
    let ours: Vec<&str> = packages.iter().map(|p| p.name.as_str()).collect();
    let mut wrong = Vec::new();
    for (name, _) in ALLOWED.iter().filter(|(name, _)| !ours.contains(name)) {
        wrong.push(format!("crate `{name}` of the dependency table is not in the workspace"));
    }
    for package in packages {
        let name = package.name.as_str();
        let Some((_, allowed)) = ALLOWED.iter().find(|(n, _)| *n == name) else {
            wrong.push(format!(
                "crate `{name}` is not in the dependency table: write a decision record, then add it"
            ));
            continue;
        };
        let is_library = ALLOWED[..6].iter().any(|(n, _)| *n == name);
        for dependency in &package.dependencies {
            let other = dependency.name.as_str();
            if is_library && NOT_IN_LIBRARIES.contains(&other) && !dependency.dev {
                wrong.push(format!("library `{name}` depends on `{other}`"));
            }
            if other == name || !ours.contains(&other) {
                continue;
            }
            if !allowed.contains(&other) {
                wrong.push(format!(
                    "`{name}` depends on `{other}`, which the dependency table does not allow"
                ));
            }
            let port_only = DOMAIN.contains(&name) && ["fta-index", "fta-llm"].contains(&other);
            for feature in
                dependency.features.iter().filter(|f| port_only && !(dependency.dev && *f == TEST_FEATURE))
            {
                wrong.push(format!(
                    "`{name}` asks `{other}` for `{feature}`: the domain uses ports, not back ends"
                ));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    fn packages() -> Vec<Package> {
        let package = |(name, _): &(&str, _)| Package { name: (*name).to_owned(), ..Package::default() };
        ALLOWED.iter().map(package).collect()
    }

    #[track_caller]
    fn check_one(name: &str, other: &str, dev: bool, features: &[&str], expected: Option<&str>) {
        let mut packages = packages();
        let features = features.iter().map(|f| (*f).to_owned()).collect();
        let package = packages.iter_mut().find(|p| p.name == name).unwrap();
        package.dependencies.push(Dependency { name: other.to_owned(), dev, features });
        let wrong = check(&packages);
        assert_eq!(wrong.is_empty(), expected.is_none(), "{wrong:?}");
        assert!(expected.is_none_or(|text| wrong[0].contains(text)), "{wrong:?}");
    }

    #[test]
    fn edges_are_compared_with_the_table() {
        check_one("fta-units", "fta-segment", false, &[], None);
        check_one("fta-units", "serde", false, &["derive"], None);
        check_one("fta-segment", "fta-units", false, &[], Some("`fta-segment` depends on `fta-units`"));
        check_one("fta-llm", "fta-index", true, &[], Some("does not allow"));
        check_one("fta-index", "fta-index", true, &["testing"], None);
        check_one("xtask", "fta-mem", false, &[], Some("does not allow"));
    }

    #[test]
    fn the_domain_sees_ports_only() {
        check_one("fta-retrieve", "fta-index", true, &["testing"], None);
        check_one("fta-retrieve", "fta-index", false, &["candle"], Some("ports, not back ends"));
        check_one("fta-retrieve", "fta-index", false, &["testing"], Some("ports, not back ends"));
        check_one("fta-mem", "fta-index", false, &["candle"], None);
    }

    #[test]
    fn libraries_have_no_command_line() {
        check_one("fta-mem", "clap", false, &[], Some("library `fta-mem` depends on `clap`"));
        check_one("fta-cli", "clap", false, &[], None);
    }

    #[test]
    fn the_table_names_exactly_the_crates() {
        let mut packages = packages();
        packages.pop();
        packages.push(Package { name: "fta-new".to_owned(), ..Package::default() });
        let wrong = check(&packages);
        assert!(wrong[0].contains("`xtask`") && wrong[1].contains("`fta-new`"), "{wrong:?}");
    }
}
