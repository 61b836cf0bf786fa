//! Consent against files as people have them.

use std::fs;

use serde_json::json;

use super::*;
use crate::store::tests::home;

const NO_KEY: &[(&str, &str)] = &[("ANTHROPIC_AUTH_TOKEN", "secret")];
const REPO: &str = "/code/it's \"it\"";

fn open(harness: &str, home: &Home, around: &Around) -> Vec<&'static str> {
    let record = SetupRecord::read(home).unwrap();
    let matters = matters(harness, Path::new(REPO), &record, around).unwrap();
    matters.iter().filter(|matter| !matter.is_answered).map(|matter| matter.name).collect()
}

fn agree_to_all(harness: &str, home: &Home, around: &Around) -> Vec<PathBuf> {
    let matters = matters(harness, Path::new(REPO), &SetupRecord::read(home).unwrap(), around).unwrap();
    agree(home, harness, Path::new(REPO), &matters).unwrap()
}

/// Agrees to everything and takes it back; the file must come out to the byte.
#[track_caller]
fn check_undone(before: Option<&str>, open_before: &[&str]) {
    let (folder, home) = home();
    let file = folder.path().join(".claude.json");
    if let Some(text) = before {
        fs::write(&file, text).unwrap();
    }
    let around = Around::at(folder.path(), &[("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdefghij")], false);
    assert_eq!(open("claude", &home, &around), open_before);
    assert_eq!(agree_to_all("claude", &home, &around), std::slice::from_ref(&file));
    assert_eq!(open("claude", &home, &around), [""; 0]);
    let read = read_json(&file).unwrap();
    assert_eq!(read["customApiKeyResponses"]["approved"], json!(["0123456789abcdefghij"]));
    undo(&home, Some("codex")).unwrap();
    assert_eq!(open("claude", &home, &around), [""; 0]);
    undo(&home, Some("claude")).unwrap();
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), before);
    assert_eq!(open("claude", &home, &around), open_before);
}

#[test]
fn consent_for_claude_is_taken_back_to_the_byte() {
    let all = ["login", "key", "trust", "bypass"];
    check_undone(None, &all);
    check_undone(Some("{}"), &all);
    check_undone(Some("{\n  \"numStartups\": 3,\n  \"projects\": {\n    \"/other\": {}\n  }\n}\n"), &all);
    let some = r#"{"hasCompletedOnboarding":true,"projects":{"/code/it's \"it\"":{"hasTrustDialogAccepted":false, "x":1}}}"#;
    check_undone(Some(some), &all[1..]);
}

#[test]
fn undo_leaves_what_others_have_written_since() {
    let (folder, home) = home();
    let file = folder.path().join(".claude.json");
    let around = Around::at(folder.path(), &[("ANTHROPIC_API_KEY", "0123456789")], false);
    agree_to_all("claude", &home, &around);
    // As claude does: all of it again, with more in it.
    let mut read = read_json(&file).unwrap();
    read["projects"][REPO]["lastVersion"] = json!("2");
    read["customApiKeyResponses"]["approved"].as_array_mut().unwrap().push(json!("another"));
    read["numStartups"] = json!(1);
    fs::write(&file, serde_json::to_string_pretty(&read).unwrap()).unwrap();
    undo(&home, None).unwrap();
    let left = read_json(&file).unwrap();
    let expect = json!({
        "projects": { REPO: { "lastVersion": "2" } },
        "customApiKeyResponses": { "approved": ["another"] },
        "numStartups": 1,
    });
    assert_eq!(left, expect);
}

#[test]
fn a_person_s_own_answers_need_no_consent() {
    let (folder, home) = home();
    let around = Around::at(folder.path(), NO_KEY, false);
    fs::create_dir(folder.path().join(".claude")).unwrap();
    let known = json!({
        "hasCompletedOnboarding": true,
        "projects": { REPO: { "hasTrustDialogAccepted": true } },
    });
    fs::write(folder.path().join(".claude.json"), known.to_string()).unwrap();
    assert_eq!(open("claude", &home, &around), ["bypass"]);
    fs::write(folder.path().join(".claude/settings.json"), r#"{"skipDangerousModePermissionPrompt":true}"#)
        .unwrap();
    assert_eq!(open("claude", &home, &around), [""; 0]);
    assert_eq!(agree_to_all("claude", &home, &around), [""; 0].map(PathBuf::from));
}

#[test]
fn codex_is_trusted_by_an_argument_alone() {
    let (folder, home) = home();
    let around = Around::at(folder.path(), &[], false);
    assert_eq!(open("codex", &home, &around), ["login", "trust"]);
    assert_eq!(agree_to_all("codex", &home, &around), [""; 0].map(PathBuf::from));
    assert_eq!(open("codex", &home, &around), ["login"]);
    assert!(!folder.path().join(".codex").exists());
    undo(&home, None).unwrap();
    assert_eq!(open("codex", &home, &around), ["login", "trust"]);
}

#[test]
fn claude_as_root_is_for_a_person_to_mend() {
    let (folder, home) = home();
    let root = Around::at(folder.path(), NO_KEY, true);
    agree_to_all("claude", &home, &root);
    assert_eq!(open("claude", &home, &root), ["root"]);
    let contained = Around::at(folder.path(), &[("IS_SANDBOX", "1")], true);
    assert_eq!(open("claude", &home, &contained), [""; 0]);
}

#[test]
fn without_a_login_consent_does_not_pretend_one() {
    let (folder, home) = home();
    let around = Around::at(folder.path(), &[], false);
    agree_to_all("claude", &home, &around);
    assert_eq!(open("claude", &home, &around), ["login"]);
    fs::write(folder.path().join(".claude.json"), "[]").unwrap();
    let matters = matters("claude", Path::new(REPO), &SetupRecord::default(), &around).unwrap();
    assert_eq!(agree(&home, "claude", Path::new(REPO), &matters).unwrap_err().kind, ErrorKind::Corrupt);
    assert_eq!(fs::read_to_string(folder.path().join(".claude.json")).unwrap(), "[]");
    assert!(!folder.path().join(".claude.json.lock").exists());
}

#[test]
fn gemini_asks_for_a_login_and_for_trust() {
    let (folder, home) = home();
    let around = Around::at(folder.path(), &[("GEMINI_API_KEY", "k")], false);
    assert_eq!(open("gemini", &home, &around), ["login", "trust"]);
    fs::create_dir(folder.path().join(".gemini")).unwrap();
    let settings = folder.path().join(".gemini/settings.json");
    let chosen = "{ // mine\n\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}}";
    fs::write(&settings, chosen).unwrap();
    assert_eq!(open("gemini", &home, &around), ["trust"]);
    let refused = check(&home, &around, "gemini", Path::new(REPO), false).unwrap_err();
    assert!(refused.help.contains("orange setup --harness gemini --yes"), "{refused}");
    assert!(agree_to_all("gemini", &home, &around).is_empty());
    check(&home, &around, "gemini", Path::new(REPO), false).unwrap();
    assert_eq!(fs::read_to_string(&settings).unwrap(), chosen);
    undo(&home, Some("gemini")).unwrap();
    assert_eq!(open("gemini", &home, &around), ["trust"]);
    fs::write(&settings, r#"{"security":{"auth":{"selectedType":"x"},"folderTrust":{"enabled":false}}}"#)
        .unwrap();
    assert_eq!(open("gemini", &home, &around), [""; 0]);
}

#[test]
fn a_person_answers_copilots_question_of_trust() {
    let (folder, home) = home();
    let around = Around::at(folder.path(), &[("GH_TOKEN", "t")], false);
    assert_eq!(open("copilot", &home, &around), ["trust"]);
    let refused = check(&home, &around, "copilot", Path::new(REPO), true).unwrap_err();
    assert!(refused.help.contains("Yes, and remember"), "{refused}");
    assert!(agree_to_all("copilot", &home, &around).is_empty());
    assert_eq!(open("copilot", &home, &around), ["trust"]);
    fs::create_dir(folder.path().join(".copilot")).unwrap();
    let trusting: [(&str, &[&str]); 4] =
        [("/other", &["trust"]), ("/code/it", &["trust"]), ("/code", &[]), (REPO, &[])];
    for (folder_of_it, open_then) in trusting {
        let config = format!("// Managed automatically.\n{}", json!({ "trustedFolders": [folder_of_it] }));
        fs::write(folder.path().join(".copilot/config.json"), config).unwrap();
        assert_eq!(open("copilot", &home, &around), open_then, "{folder_of_it}");
    }
}
