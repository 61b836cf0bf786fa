//! Every key stands once in its object, and has a sentence.

use super::*;

fn objects<'o>(object: &'o Object, all: &mut Vec<&'o Object>) {
    all.push(object);
    object.keys.iter().for_each(|key| inner(&key.takes, all));
}

fn inner<'o>(takes: &'o Takes, all: &mut Vec<&'o Object>) {
    match takes {
        Takes::Object(object) => objects(object, all),
        Takes::Tagged(_, tagged) => tagged.iter().for_each(|it| objects(it, all)),
        Takes::List(it) | Takes::OneOrList(it) | Takes::Map(it) => inner(it, all),
        Takes::OneOf(several) => several.iter().for_each(|it| inner(it, all)),
        Takes::Text
        | Takes::Boolean
        | Takes::Integer(_)
        | Takes::Word(_)
        | Takes::Actor(_)
        | Takes::Name(_)
        | Takes::Guard
        | Takes::Heading
        | Takes::Duration
        | Takes::Scalar => {}
    }
}

#[test]
fn keys_are_there_once_and_say_what_they_mean() {
    let mut all = Vec::new();
    objects(&WORKFLOW, &mut all);
    objects(&STEP_WORKFLOW, &mut all);
    assert!(all.len() > 20);
    for object in all {
        for (at, key) in object.keys.iter().enumerate() {
            assert!(key.doc.ends_with('.'), "{} of {}", key.name, object.what);
            assert!(object.keys[..at].iter().all(|it| it.name != key.name), "{} twice", key.name);
        }
    }
}
