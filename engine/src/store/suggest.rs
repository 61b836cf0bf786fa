//! Suggests the known name that is nearest to a wrong one.

/// The known name that is near enough to a wrong one, or begins with it.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const BEGINNING: usize = 4;
    let small = wrong.to_lowercase();
    let distance = |name: &str| match name.starts_with(wrong) && wrong.len() >= BEGINNING {
        true => 0,
        false => strsim::damerau_levenshtein(&small, &name.to_lowercase()),
    };
    let allowed = |name: &str| (wrong.chars().count().max(name.chars().count()) / 3).max(1);
    let distances = known.into_iter().map(|name| (distance(name), name));
    distances.filter(|(distance, name)| *distance <= allowed(name)).min().map(|(_, name)| name)
}

/// A help that suggests the nearest known name, or else lists all of them. `what` is the plural of their kind.
pub fn help(wrong: &str, known: &[&str], what: &str) -> String {
    match nearest(wrong, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => format!("there are no {what} yet"),
        None => format!("the {what} are: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wrong: &str, expect: &str) {
        assert_eq!(help(wrong, &["coffee", "tea"], "projects"), expect);
    }

    #[test]
    fn near_names_are_suggested_and_others_listed() {
        check("cofee", "did you mean `coffee`?");
        check("cofefe", "did you mean `coffee`?");
        check("coff", "did you mean `coffee`?");
        check("COFE", "did you mean `coffee`?");
        check("te", "did you mean `tea`?");
        check("water", "the projects are: coffee, tea");
        assert_eq!(help("x", &[], "projects"), "there are no projects yet");
    }
}
