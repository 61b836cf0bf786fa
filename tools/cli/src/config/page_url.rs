//! Address of the published pages of checks.

use orange_analysis::catalogue::Check;

/// Placeholder in a URL for the name of a check.
const NAME: &str = "{name}";

/// A URL of the web with `{name}` in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageUrl(String);

impl PageUrl {
    /// Reads one; none where it is not a URL of the web, or has no `{name}`.
    pub(super) fn new(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
        let has_host = rest.split('/').next().is_some_and(|host| !host.is_empty() && !host.contains('{'));
        let is_plain = !text.contains(|it: char| it.is_whitespace() || it.is_control());
        (has_host && is_plain && rest.contains(NAME)).then(|| Self(text.to_owned()))
    }

    /// The address of the page of this check.
    pub(crate) fn of(&self, check: &Check) -> String {
        self.0.replace(NAME, check.name)
    }
}

#[cfg(test)]
mod tests {
    use orange_codegen::catalogue::A01;

    use super::*;

    #[test]
    fn a_url_of_the_web_with_the_name_is_taken() {
        let page = |text| PageUrl::new(text).map(|it| it.of(&A01));
        let url = "https://example.org/lints/unknown-to.html#top";
        assert_eq!(page("https://example.org/lints/{name}.html#top").as_deref(), Some(url));
        for wrong in [
            "docs/{name}.md",
            "file:///docs/{name}.md",
            "https://{name}",
            "https://a/",
            "https:///{name}",
            "https://a/{name} b",
        ] {
            assert_eq!(page(wrong), None, "{wrong}");
        }
    }
}
