//! Every key stands once in its object, and has a sentence.

use super::*;

#[test]
fn keys_are_there_once_and_say_what_they_mean() {
    let all = [WORKFLOW.with_inner(), STEP_WORKFLOW.with_inner()].concat();
    assert!(all.len() > 20);
    for object in all {
        for (at, key) in object.keys.iter().enumerate() {
            assert!(key.doc.ends_with('.'), "{} of {}", key.name, object.what);
            assert!(object.keys[..at].iter().all(|it| it.name != key.name), "{} twice", key.name);
        }
    }
}
