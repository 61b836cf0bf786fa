//! Budgets: limits of what the agents of a task or of a project use, and what follows when one is reached.

#[cfg(test)]
mod tests;
mod text;

pub use self::text::amount;

/// Time for which an agent may go on after a limit is reached, in seconds: it is ended at the end of its turn, or then.
pub const GRACE: u64 = 300;

/// Kind of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BudgetKind {
    /// Money, in millionths of a dollar: as the harness reports it, else at list price.
    Cost,
    /// Tokens that models have read, cached or not, and written.
    Tokens,
    /// Those without the ones that were read from a cache.
    FreshTokens,
    /// Time for which agents are alive and do not wait, in seconds.
    Time,
    /// Starts of agents.
    Starts,
}

impl BudgetKind {
    /// Every kind, in the order in which a reached one is named.
    pub const ALL: [BudgetKind; 5] =
        [BudgetKind::Cost, BudgetKind::Tokens, BudgetKind::FreshTokens, BudgetKind::Time, BudgetKind::Starts];

    /// The key in settings, arguments, answers and journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            BudgetKind::Cost => "cost",
            BudgetKind::Tokens => "tokens",
            BudgetKind::FreshTokens => "fresh_tokens",
            BudgetKind::Time => "time",
            BudgetKind::Starts => "starts",
        }
    }

    /// The kind of this key.
    pub fn named(key: &str) -> Option<BudgetKind> {
        BudgetKind::ALL.into_iter().find(|kind| kind.as_str() == key)
    }

    /// False if a harness that ships reports no such figures; `None` for one that users add, of which this is unknown.
    pub fn is_reported_by(self, harness: &str) -> Option<bool> {
        let of_models = match harness {
            "claude" | "codex" => true,
            "opencode" | "pi" => self != BudgetKind::FreshTokens,
            "gemini" | "copilot" => false,
            _ => return None,
        };
        Some(match self {
            BudgetKind::Cost | BudgetKind::Tokens | BudgetKind::FreshTokens => of_models,
            BudgetKind::Time | BudgetKind::Starts => true,
        })
    }

    /// True if an agent at work comes nearer to the limit.
    const fn grows(self) -> bool {
        match self {
            BudgetKind::Cost | BudgetKind::Tokens | BudgetKind::FreshTokens | BudgetKind::Time => true,
            BudgetKind::Starts => false,
        }
    }
}

/// A limit of each kind, or an amount of each kind; `None` where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Budget {
    /// As [`BudgetKind::Cost`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub cost: Option<u64>,
    /// As [`BudgetKind::Tokens`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub tokens: Option<u64>,
    /// As [`BudgetKind::FreshTokens`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub fresh_tokens: Option<u64>,
    /// As [`BudgetKind::Time`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub time: Option<u64>,
    /// As [`BudgetKind::Starts`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub starts: Option<u64>,
}

impl Budget {
    /// No limit.
    pub const NONE: Budget =
        Budget { cost: None, tokens: None, fresh_tokens: None, time: None, starts: None };
}

/// A limit that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReachedLimit {
    /// Kind of the limit.
    pub kind: BudgetKind,
    /// The limit.
    pub limit: u64,
    /// Amount that is spent.
    pub spent: u64,
}

/// Known facts about the budget of a task.
#[derive(Clone, Copy, Debug)]
pub struct BudgetFacts {
    /// Its limits.
    pub limits: Budget,
    /// Amounts that its agents have used, ended or alive; what is unknown counts nothing.
    pub spent: Budget,
    /// True if an agent is alive.
    pub is_alive: bool,
    /// True if the cost of a living agent is unknown, since its model has no price: a limit of the cost counts as reached.
    pub is_unpriced: bool,
    /// Seconds since the first of its limits was reached, if that is recorded.
    pub since: Option<u64>,
}

/// Consequence of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetVerdict {
    /// No limit is reached.
    Within,
    /// No agent is started; those that are alive go on.
    NoStart(ReachedLimit),
    /// No agent is started, and those that are alive are ended at the end of their turns.
    EndTurns(ReachedLimit),
    /// No agent is started, and those that are alive are ended now.
    EndNow(ReachedLimit),
}

impl BudgetVerdict {
    /// The limit for which no agent is started.
    pub const fn reached(self) -> Option<ReachedLimit> {
        match self {
            BudgetVerdict::Within => None,
            BudgetVerdict::NoStart(reached)
            | BudgetVerdict::EndTurns(reached)
            | BudgetVerdict::EndNow(reached) => Some(reached),
        }
    }
}

impl ReachedLimit {
    /// True if 120 % of the limit are spent.
    const fn is_far_beyond(self) -> bool {
        self.spent as u128 * 5 >= self.limit as u128 * 6
    }
}

impl Budget {
    /// The value of a kind.
    pub const fn get(&self, kind: BudgetKind) -> Option<u64> {
        match kind {
            BudgetKind::Cost => self.cost,
            BudgetKind::Tokens => self.tokens,
            BudgetKind::FreshTokens => self.fresh_tokens,
            BudgetKind::Time => self.time,
            BudgetKind::Starts => self.starts,
        }
    }

    /// Sets the value of a kind.
    pub const fn set(&mut self, kind: BudgetKind, value: Option<u64>) {
        match kind {
            BudgetKind::Cost => self.cost = value,
            BudgetKind::Tokens => self.tokens = value,
            BudgetKind::FreshTokens => self.fresh_tokens = value,
            BudgetKind::Time => self.time = value,
            BudgetKind::Starts => self.starts = value,
        }
    }

    /// True if it has no value.
    pub fn is_empty(&self) -> bool {
        *self == Budget::default()
    }

    /// True if it has a value for which the records of living agents have to be read.
    pub const fn counts_tokens(&self) -> bool {
        self.cost.is_some() || self.tokens.is_some() || self.fresh_tokens.is_some()
    }

    /// The values, with these for the kinds that have none.
    #[must_use]
    pub fn completed_by(self, others: Budget) -> Budget {
        self.with(others, |one, other| one.or(other))
    }

    /// The sum of each kind; a value that only one of them has is the sum.
    #[must_use]
    pub fn plus(self, more: Budget) -> Budget {
        self.with(more, |one, other| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        })
    }

    fn with(self, other: Budget, op: fn(Option<u64>, Option<u64>) -> Option<u64>) -> Budget {
        let mut all = Budget::default();
        for kind in BudgetKind::ALL {
            all.set(kind, op(self.get(kind), other.get(kind)));
        }
        all
    }

    /// The limits that are reached.
    pub fn reached(self, spent: Budget) -> impl Iterator<Item = ReachedLimit> {
        let of = move |kind| {
            let (limit, spent) = (self.get(kind)?, spent.get(kind).unwrap_or_default());
            (spent >= limit).then_some(ReachedLimit { kind, limit, spent })
        };
        BudgetKind::ALL.into_iter().filter_map(of)
    }
}

impl BudgetFacts {
    /// Decides what follows from the budget.
    pub fn verdict(&self) -> BudgetVerdict {
        let all = || self.unpriced().into_iter().chain(self.limits.reached(self.spent));
        let Some(first) = all().next() else { return BudgetVerdict::Within };
        // The last of the allowed starts may do its work.
        let Some(grown) = all().find(|it| it.kind.grows()).filter(|_| self.is_alive) else {
            return BudgetVerdict::NoStart(first);
        };
        let is_late = self.since.is_some_and(|since| since >= GRACE);
        let is_far = all().any(|it| it.kind.grows() && it.is_far_beyond());
        if is_late || is_far { BudgetVerdict::EndNow(grown) } else { BudgetVerdict::EndTurns(grown) }
    }

    /// The limit of a cost that nobody can know.
    pub fn unpriced(&self) -> Option<ReachedLimit> {
        let limit = self.limits.cost.filter(|_| self.is_unpriced)?;
        Some(ReachedLimit { kind: BudgetKind::Cost, limit, spent: self.spent.cost.unwrap_or_default() })
    }
}
