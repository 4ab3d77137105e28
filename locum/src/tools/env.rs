//! `locum env`.

use crate::arguments::{EnvArgs, EnvFormat, GlobalArgs};
use crate::command_error::CommandError;
use crate::dev::EnvFile;
use crate::output::print_line;

pub(crate) fn print_env(common: &GlobalArgs, args: &EnvArgs) -> Result<(), CommandError> {
    let settings = common.load_settings()?;
    let path = EnvFile::file_path(&settings.core.data_dir);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        CommandError::Failed(format!("{}: {error}; start `locum dev` to create it", path.display()))
    })?;
    let lines = EnvFile::parse(&text);
    let shell = if common.json { EnvFormat::Json } else { args.shell };
    print_line(format_for_shell(&lines, shell).trim_end());
    Ok(())
}

fn format_for_shell(lines: &EnvFile, shell: EnvFormat) -> String {
    if shell == EnvFormat::Json {
        let pairs = lines.0.iter().map(|(name, value)| (format!("LOCUM_{name}"), value.clone().into()));
        let map: serde_json::Map<String, serde_json::Value> = pairs.collect();
        return serde_json::to_string_pretty(&map).unwrap_or_default();
    }
    let line = |(name, value): &(String, String)| match shell {
        EnvFormat::Sh => format!("export LOCUM_{name}='{}'\n", value.replace('\'', r"'\''")),
        EnvFormat::Fish => {
            let value = value.replace('\\', r"\\").replace('\'', r"\'");
            format!("set -gx LOCUM_{name} '{value}'\n")
        }
        EnvFormat::Pwsh => format!("$env:LOCUM_{name} = '{}'\n", value.replace('\'', "''")),
        EnvFormat::Dotenv | EnvFormat::Json => format!("LOCUM_{name}={value}\n"),
    };
    lines.0.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{EnvFile, EnvFormat, format_for_shell};

    #[test]
    fn each_shell_has_its_words() {
        let lines = EnvFile(vec![("API_KEY".to_owned(), "a'b\\c".to_owned())]);
        let of = |shell| format_for_shell(&lines, shell);
        assert_eq!(of(EnvFormat::Sh), "export LOCUM_API_KEY='a'\\''b\\c'\n");
        assert_eq!(of(EnvFormat::Fish), "set -gx LOCUM_API_KEY 'a\\'b\\\\c'\n");
        assert_eq!(of(EnvFormat::Pwsh), "$env:LOCUM_API_KEY = 'a''b\\c'\n");
        assert_eq!(of(EnvFormat::Dotenv), "LOCUM_API_KEY=a'b\\c\n");
        assert!(of(EnvFormat::Json).contains(r#""LOCUM_API_KEY": "a'b\\c""#));
    }
}
