//! The widget: one script, built from the files in the folder `widget`. Its README explains how they are joined.

#[cfg(test)]
mod tests;

use crate::slim::{slim_script, slim_style};

/// The modules, each before those that import it.
const MODULES: &[(&str, &str)] = &[
    ("texts.js", include_str!("widget/texts.js")),
    ("nodes.js", include_str!("widget/nodes.js")),
    ("markdown.js", include_str!("widget/markdown.js")),
    ("service.js", include_str!("widget/service.js")),
    ("chat.js", include_str!("widget/chat.js")),
    ("forms.js", include_str!("widget/forms.js")),
    ("panel.js", include_str!("widget/panel.js")),
    ("start.js", include_str!("widget/start.js")),
];
const STYLE: &str = include_str!("widget/style.css");

/// The script of the widget, as it is served. It is built again at each call.
pub(crate) fn script() -> String {
    let mut modules = String::new();
    for (_, text) in MODULES {
        for line in text.lines().filter(|line| !line.starts_with("import ")) {
            modules.push_str(line.strip_prefix("export ").unwrap_or(line));
            modules.push('\n');
        }
    }
    let style = serde_json::Value::from(slim_style(STYLE));
    format!("(() => {{\nconst CSS_TEXT={style};\n{}\n}})();\n", slim_script(&modules))
}
