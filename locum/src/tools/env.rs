//! `locum env`.

use crate::cli::{Common, EnvArgs, Shell, print};
use crate::dev::Lines;
use crate::exit::Exit;

/// Prints what clients need, in the words of a shell.
pub(crate) fn env(common: &Common, args: &EnvArgs) -> Result<(), Exit> {
    let settings = common.settings()?;
    let path = Lines::path(&settings.data_dir);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Exit::Failed(format!(
            "{}: {error}; `locum dev` writes it",
            path.display()
        ))
    })?;
    let lines = Lines::parse(&text);
    let shell = if common.json { Shell::Json } else { args.shell };
    print(said(&lines, shell).trim_end());
    Ok(())
}

fn said(lines: &Lines, shell: Shell) -> String {
    if shell == Shell::Json {
        let pairs = lines
            .0
            .iter()
            .map(|(name, value)| (format!("LOCUM_{name}"), value.clone().into()));
        let map: serde_json::Map<String, serde_json::Value> = pairs.collect();
        return serde_json::to_string_pretty(&map).unwrap_or_default();
    }
    let line = |(name, value): &(String, String)| match shell {
        Shell::Sh => format!("export LOCUM_{name}='{}'\n", value.replace('\'', r"'\''")),
        Shell::Fish => {
            let value = value.replace('\\', r"\\").replace('\'', r"\'");
            format!("set -gx LOCUM_{name} '{value}'\n")
        }
        Shell::Pwsh => format!("$env:LOCUM_{name} = '{}'\n", value.replace('\'', "''")),
        Shell::Dotenv | Shell::Json => format!("LOCUM_{name}={value}\n"),
    };
    lines.0.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{Lines, Shell, said};

    #[test]
    fn each_shell_has_its_words() {
        let lines = Lines(vec![("API_KEY".to_owned(), "a'b\\c".to_owned())]);
        let of = |shell| said(&lines, shell);
        assert_eq!(of(Shell::Sh), "export LOCUM_API_KEY='a'\\''b\\c'\n");
        assert_eq!(of(Shell::Fish), "set -gx LOCUM_API_KEY 'a\\'b\\\\c'\n");
        assert_eq!(of(Shell::Pwsh), "$env:LOCUM_API_KEY = 'a''b\\c'\n");
        assert_eq!(of(Shell::Dotenv), "LOCUM_API_KEY=a'b\\c\n");
        assert!(of(Shell::Json).contains(r#""LOCUM_API_KEY": "a'b\\c""#));
    }
}
