//! Usage of an agent.

use super::Exited;

/// Usage of an agent, as far as its harness reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Number of tokens that its model has read, cached or not, and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Number of those tokens that were not read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_tokens: Option<u64>,
    /// Cost, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// Cost at list price, in millionths of a dollar, if its harness reports tokens only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_price: Option<u64>,
    /// Reason for the missing list price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unpriced: Option<String>,
    /// True if the figures are lower bounds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

impl Spent {
    /// The sum; a value that only one of them has is the sum.
    #[must_use]
    pub fn and(self, other: Spent) -> Spent {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        let mut reasons: Vec<&str> = Vec::new();
        for reason in [&self.unpriced, &other.unpriced].into_iter().flatten().flat_map(|it| it.split("; ")) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        let unpriced = (!reasons.is_empty()).then(|| reasons.join("; "));
        Spent {
            tokens: sum(self.tokens, other.tokens),
            fresh_tokens: sum(self.fresh_tokens, other.fresh_tokens),
            cost: sum(self.cost, other.cost),
            list_price: sum(self.list_price, other.list_price),
            unpriced,
            at_least: self.at_least || other.at_least,
        }
    }
}

impl Exited {
    /// Usage of the agent.
    pub fn spent(&self) -> Spent {
        Spent {
            tokens: self.tokens,
            fresh_tokens: self.fresh_tokens,
            cost: self.cost,
            list_price: self.list_price,
            unpriced: self.unpriced.clone(),
            at_least: self.at_least,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_names_each_reason_once() {
        let of = |tokens, reason: &str| Spent {
            tokens,
            unpriced: Some(reason.to_owned()).filter(|it| !it.is_empty()),
            ..Spent::default()
        };
        let all = [of(Some(1), "a; b"), of(None, ""), of(Some(2), "b; c"), of(Some(4), "a; b; c")];
        let sum = all.into_iter().fold(Spent::default(), Spent::and);
        assert_eq!(sum, of(Some(7), "a; b; c"));
        assert_eq!(Spent::default().and(Spent::default()), Spent::default());
    }
}
