//! The harnesses that tasks can name.

use crate::Result;
use crate::app::App;
use crate::store::effective::effective;
use crate::store::projects;
use crate::store::work_item::DEFAULT_HARNESS;
use orange_api::ListedHarness;
use orange_system::exec::find_on_path;

/// Every harness, built in or in `harnesses.toml`.
pub fn list(app: &App) -> Result<Vec<ListedHarness>> {
    let default = match projects::at(&app.home, &app.folder) {
        Ok(project) => effective(&app.home, &project)?.worker().to_owned(),
        // Outside of a project, none has set another.
        Err(_) => DEFAULT_HARNESS.to_owned(),
    };
    let listed = app.harnesses()?.into_iter().map(|harness| {
        let path = find_on_path(&harness.binary, app.path());
        ListedHarness {
            installed: path.is_some(),
            path: path.map(|path| path.to_string_lossy().into_owned()),
            default: harness.name == default,
            name: harness.name,
        }
    });
    Ok(listed.collect())
}
