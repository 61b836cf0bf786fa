//! List prices of models: `prices.toml` in the home of a person, before those that are compiled in.

use std::io;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::transcript::pattern;
use super::transcript::spent::{TokenCounts, Usage};
use crate::store::suggest;
use crate::store::toml_text::{TomlText, in_order};
use crate::{Error, Result};
use orange_system::nofollow;

const BUILT_IN: &str = include_str!("prices.toml");

/// The keys of a price.
const KEYS: &[&str] = &["input", "output", "cache_read", "cache_write_5m", "cache_write_1h"];

/// The highest price, in dollars per million tokens; a higher one is a mistake.
const HIGHEST: f64 = 1_000_000.0;

/// List prices of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices(Vec<ModelPrice>);

/// Price of the models whose names fit a pattern, in millionths of a dollar per million tokens. A kind of tokens may have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ModelPrice {
    pattern: String,
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write_5m: Option<u64>,
    cache_write_1h: Option<u64>,
}

impl Prices {
    /// The prices of this file, which is optional, and those that are built in.
    ///
    /// # Errors
    /// `corrupt` with the line of an unknown key or of a value that is not a price.
    pub fn read(path: &Path) -> Result<Prices> {
        let mut prices = match nofollow::read_linked(path, nofollow::LONGEST) {
            Ok(bytes) => parse(path, &bytes)?,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(cause) => return Err(Error::io("read", path, &cause)),
        };
        prices.extend(parse(Path::new("built-in prices"), BUILT_IN.as_bytes())?);
        Ok(Prices(prices))
    }

    /// The cost of a usage in millionths of a dollar, or the models that have no price.
    pub fn cost_of(&self, usage: &Usage) -> std::result::Result<u64, String> {
        let costs = usage.models.iter().map(|(model, counts)| (model, self.cost_of_model(model, counts)));
        let (known, unknown): (Vec<_>, Vec<_>) = costs.partition(|(_, cost)| cost.is_some());
        match unknown.as_slice() {
            [] => Ok(known.into_iter().filter_map(|(_, cost)| cost).fold(0, u64::saturating_add)),
            models => {
                let names = models.iter().map(|(model, _)| match model.as_str() {
                    "" => "a model without a name".to_owned(),
                    name => format!("`{name}`"),
                });
                Err(format!("no price for {}", names.collect::<Vec<_>>().join(", ")))
            }
        }
    }

    /// True if a model of this name has a price.
    pub fn has(&self, model: &str) -> bool {
        self.0.iter().any(|price| pattern::fits(&price.pattern, model))
    }

    fn cost_of_model(&self, model: &str, counts: &TokenCounts) -> Option<u64> {
        if counts.total() == 0 {
            return Some(0);
        }
        let price = self.0.iter().find(|price| pattern::fits(&price.pattern, model))?;
        let kinds = [
            (counts.input, price.input),
            (counts.output, price.output),
            (counts.cache_read, price.cache_read),
            (counts.cache_write_5m, price.cache_write_5m),
            (counts.cache_write_1h, price.cache_write_1h),
            (counts.other, None),
        ];
        let mut cost: u128 = 0;
        for (tokens, price) in kinds.into_iter().filter(|(tokens, _)| *tokens > 0) {
            cost += u128::from(tokens) * u128::from(price?);
        }
        u64::try_from(cost / 1_000_000).ok()
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<ModelPrice>> {
    let text = TomlText::new(path, bytes)?;
    let tables = text.table()?;
    let mut prices = Vec::new();
    for (name, value) in in_order(tables.get_ref()) {
        let Some(table) = value.get_ref().as_table() else {
            let what = "a price needs a table with the model before it, such as `[\"gpt-5-codex\"]`";
            return Err(text.broken(name.span().start, what));
        };
        let price = price(table).map_err(|(at, what)| text.broken(at, &what))?;
        prices.push(ModelPrice { pattern: name.get_ref().to_string(), ..price });
    }
    Ok(prices)
}

fn price(table: &DeTable<'_>) -> std::result::Result<ModelPrice, (usize, String)> {
    let mut price = ModelPrice::default();
    for (name, value) in in_order(table) {
        let (at, key) = (name.span().start, &**name.get_ref());
        let field = match key {
            "input" => &mut price.input,
            "output" => &mut price.output,
            "cache_read" => &mut price.cache_read,
            "cache_write_5m" => &mut price.cache_write_5m,
            "cache_write_1h" => &mut price.cache_write_1h,
            _ => {
                let help = suggest::help(key, KEYS, "keys");
                return Err((at, format!("`{key}` is not a key of a price: {help}")));
            }
        };
        let what = || format!("`{key}` is dollars per million tokens, such as `1.25`");
        *field = Some(millionths(value).ok_or_else(|| (at, what()))?);
    }
    Ok(price)
}

/// A number of dollars in millionths.
fn millionths(value: &Spanned<DeValue<'_>>) -> Option<u64> {
    let dollars: f64 = match value.get_ref() {
        DeValue::Float(number) => number.as_str().parse().ok()?,
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok()?,
        DeValue::Integer(_)
        | DeValue::String(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_)
        | DeValue::Table(_) => return None,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    let millionths = (0.0..=HIGHEST).contains(&dollars).then(|| (dollars * 1e6).round() as u64);
    millionths
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::ErrorKind;

    fn prices(text: &str) -> Result<Prices> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.toml");
        fs::write(&path, text).unwrap();
        Prices::read(&path)
    }

    fn usage(models: &[(&str, TokenCounts)]) -> Usage {
        let models = models.iter().map(|(model, counts)| ((*model).to_owned(), *counts)).collect();
        Usage { models, is_partial: false }
    }

    const COUNTS: TokenCounts = TokenCounts {
        input: 1_000_000,
        output: 100_000,
        cache_read: 10_000_000,
        cache_write_5m: 200_000,
        cache_write_1h: 300_000,
        other: 0,
    };

    #[test]
    fn each_kind_of_token_has_its_price() {
        let prices = prices("").unwrap();
        let cost = |model: &str| prices.cost_of(&usage(&[(model, COUNTS)]));
        assert_eq!(cost("claude-opus-4-8"), Ok(5_000_000 + 2_500_000 + 5_000_000 + 1_250_000 + 3_000_000));
        assert_eq!(
            cost("claude-opus-4-1-20250805"),
            Ok(3 * (5_000_000 + 2_500_000 + 5_000_000 + 1_250_000 + 3_000_000))
        );
        let codex = TokenCounts { cache_write_5m: 0, cache_write_1h: 0, ..COUNTS };
        assert_eq!(prices.cost_of(&usage(&[("gpt-5-codex", codex)])), Ok(1_250_000 + 1_000_000 + 1_250_000));
    }

    #[test]
    fn a_model_without_a_price_has_no_cost() {
        let prices = prices("").unwrap();
        let known = ("claude-opus-4-8", COUNTS);
        let cost = |other: &str, counts| prices.cost_of(&usage(&[known, (other, counts)]));
        assert_eq!(cost("gpt-9", COUNTS), Err("no price for `gpt-9`".to_owned()));
        assert_eq!(cost("claude-opus-4-80", COUNTS), Err("no price for `claude-opus-4-80`".to_owned()));
        assert_eq!(cost("", COUNTS), Err("no price for a model without a name".to_owned()));
        // A kind of tokens without a price.
        assert_eq!(cost("gpt-5-codex", COUNTS), Err("no price for `gpt-5-codex`".to_owned()));
        let unknown = TokenCounts { other: 1, ..TokenCounts::default() };
        assert_eq!(cost("gpt-5.2", unknown), Err("no price for `gpt-5.2`".to_owned()));
        // claude writes errors as answers of a model that costs nothing.
        assert!(cost("<synthetic>", TokenCounts::default()).is_ok());
    }

    #[test]
    fn the_file_of_a_person_comes_first() {
        let own = prices("[\"claude-opus-*\"]\ninput = 1\noutput = 2.5\n[gpt-9]\ninput = 0.125\n").unwrap();
        let input = TokenCounts { input: 1_000_000, output: 1_000_000, ..TokenCounts::default() };
        assert_eq!(own.cost_of(&usage(&[("claude-opus-4-8", input)])), Ok(3_500_000));
        let input = TokenCounts { input: 8, ..TokenCounts::default() };
        assert_eq!(own.cost_of(&usage(&[("gpt-9", input)])), Ok(1));
    }

    #[test]
    fn a_flaw_names_its_line() {
        for (text, part) in [
            ("input = 1\n", "prices.toml:1: a price needs a table"),
            ("[a]\ninput = 1\ncache = 2\n", "prices.toml:3: `cache` is not a key of a price"),
            ("[a]\ninput = '1'\n", "prices.toml:2: `input` is dollars per million tokens"),
            ("[a]\noutput = -1\n", "prices.toml:2: `output` is dollars"),
            ("[a]\noutput = nan\n", "prices.toml:2: `output` is dollars"),
            ("[a]\noutput = 1e300\n", "prices.toml:2: `output` is dollars"),
        ] {
            let error = prices(text).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Corrupt);
            assert!(error.message.contains(part), "{error}");
        }
    }
}
