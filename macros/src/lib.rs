//! workflow!: a checked, typed workflow from a workflow file, at a call site.

#![warn(missing_docs)]

use std::fs;
use std::path::Path;

use orange_codegen::emit::{self, Options};
use orange_codegen::plain::Renderer;
use orange_codegen::{Checked, Compilation, Level, PromptFiles, Source};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};

const USAGE: &str = r#"write `workflow!("flow.yml")` or `workflow! { path: "flow.yml", name: module }`; the path is relative to the folder of Cargo.toml"#;

/// A module with the states, transitions, prompts, counters and tables of a workflow, or with the steps, roles, results and tables of a
/// step workflow.
///
/// `workflow!("flow.yml")` declares a module with the name of the workflow; `workflow! { path: "flow.yml", name: flow }` one named
/// `flow`. The path is relative to the folder of the calling package's `Cargo.toml`, and that package depends on `orange-core`.
/// Editing the file, or the file of a prompt, compiles it again.
///
/// Findings of the compiler's own checks at `error` or `deny` fail the build, each with its place, witness and help. Lints are left
/// out, since every user of the macro would compile them: `orange-workflow check` runs them, and so does a build script with
/// `orange_codegen::build` and `compiled_by(orange_analysis::lint)`.
#[proc_macro]
pub fn workflow(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = match std::env::var("CARGO_MANIFEST_DIR") {
        Ok(folder) => expand(input.into(), Path::new(&folder)),
        Err(_) => Err(vec!["workflow! needs CARGO_MANIFEST_DIR, which cargo sets".to_owned()]),
    };
    expanded.unwrap_or_else(|errors| quote!(#(::core::compile_error!(#errors);)*)).into()
}

fn expand(input: TokenStream, folder: &Path) -> Result<TokenStream, Vec<String>> {
    let MacroArguments { path, name } = MacroArguments::parse(input).ok_or_else(|| vec![USAGE.to_owned()])?;
    let file = folder.join(&path);
    let text = fs::read_to_string(&file)
        .map_err(|error| vec![format!("cannot read {path} in {}: {error}\n{USAGE}", folder.display())])?;
    let source = Source::new(path, text).with_files(PromptFiles::beside(&file));
    let compilation = orange_codegen::compile(&source);
    let refused =
        compilation.diagnostics.iter().filter(|it| it.level <= Level::Deny).cloned().collect::<Vec<_>>();
    let module = compilation
        .checked
        .as_ref()
        .filter(|_| refused.is_empty())
        .ok_or(refused)
        .and_then(|checked| emit::emit(checked, &Options { module: name, ..Options::default() }));
    let module = module.map_err(|errors| {
        let renderer = Renderer::new(&source);
        errors.iter().map(|error| renderer.render(error)).collect::<Vec<_>>()
    })?;
    let watched = watched(&source, &compilation, folder);
    Ok(quote!(#(#watched)* #module))
}

/// Cargo watches included files, and expands the macro again after a change.
fn watched(source: &Source, compilation: &Compilation, folder: &Path) -> Vec<TokenStream> {
    let prompts = compilation.checked.iter().flat_map(|it| Checked::prompt_files(it).into_keys());
    let prompts = prompts.filter_map(|it| source.prompt_files.path(it));
    let prompts = prompts.map(|it| below(folder, &it));
    [source.path.clone()]
        .into_iter()
        .chain(prompts)
        .map(|path| {
            quote! {
                const _: &[u8] =
                    ::core::include_bytes!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #path));
            }
        })
        .collect()
}

/// A path as seen from this folder. Prompt files stand below it, or below its parent.
fn below(folder: &Path, path: &Path) -> String {
    let parent = || folder.parent().and_then(|parent| path.strip_prefix(parent).ok());
    match (path.strip_prefix(folder), parent()) {
        (Ok(inside), _) => inside.display().to_string(),
        (Err(_), Some(beside)) => format!("../{}", beside.display()),
        (Err(_), None) => path.display().to_string(),
    }
}

/// The arguments.
struct MacroArguments {
    path: String,
    name: Option<String>,
}

impl MacroArguments {
    fn parse(input: TokenStream) -> Option<Self> {
        let tokens: Vec<_> = input.into_iter().collect();
        if let [path] = tokens.as_slice() {
            return Some(Self { path: text(path)?, name: None });
        }
        let (mut path, mut name) = (None, None);
        for entry in tokens.split(|token| token.to_string() == ",").filter(|entry| !entry.is_empty()) {
            let [TokenTree::Ident(key), colon, value] = entry else { return None };
            match (key.to_string().as_str(), colon.to_string().as_str(), value) {
                ("path", ":", value) if path.is_none() => path = Some(text(value)?),
                ("name", ":", TokenTree::Ident(module)) if name.is_none() => name = Some(module.to_string()),
                _ => return None,
            }
        }
        Some(Self { path: path?, name })
    }
}

/// A string literal without escapes, which a path does not need.
fn text(token: &TokenTree) -> Option<String> {
    let literal = token.to_token_stream().to_string();
    let text = literal.strip_prefix('"')?.strip_suffix('"')?;
    (!text.is_empty() && !text.contains('\\')).then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
