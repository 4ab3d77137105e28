//! `locum env`.

use std::path::Path;

use crate::dev::EnvFile;
use crate::launcher::{TrustFiles, proxy_variables};
use crate::testing::world_variables;
use instance::ListeningAddresses;
use instance::arguments::{EnvArgs, EnvFormat, GlobalArgs};
use instance::command_error::CommandError;
use instance::config::RunMode;
use instance::output::print_line;

pub(crate) fn print_env(common: &GlobalArgs, args: &EnvArgs) -> Result<(), CommandError> {
    if common.is_remote() && args.intercept {
        return Err(CommandError::Usage("--intercept needs the data directory of the server, not --url".to_owned()));
    }
    let mut variables = if common.is_remote() || common.world.is_some() {
        world_variables(common)?
    } else {
        let settings = common.load_settings()?;
        if settings.mode == RunMode::Serve {
            return Err(CommandError::WrongMode("only a development server has credentials to print".to_owned()));
        }
        EnvFile::load(&settings.core.data_dir)?.variables()
    };
    if args.intercept {
        variables.extend(intercept_variables(&common.load_settings()?.core.data_dir)?);
    }
    let shell = if common.json { EnvFormat::Json } else { args.shell };
    print_line(format_for_shell(&variables, shell).trim_end());
    Ok(())
}

fn intercept_variables(folder: &Path) -> Result<Vec<(String, String)>, CommandError> {
    let folder = std::path::absolute(folder).map_err(base::Fault::context("the data directory"))?;
    let server = ListeningAddresses::read(&folder).ok_or_else(|| {
        CommandError::Unreachable(format!("no server is running on {}: start `locum dev`", folder.display()))
    })?;
    Ok(proxy_variables(&server, &TrustFiles::write(&folder)?))
}

fn format_for_shell(variables: &[(String, String)], shell: EnvFormat) -> String {
    if shell == EnvFormat::Json {
        let pairs = variables.iter().map(|(name, value)| (name.clone(), value.clone().into()));
        let map: serde_json::Map<String, serde_json::Value> = pairs.collect();
        return serde_json::to_string_pretty(&map).unwrap_or_default();
    }
    let line = |(name, value): &(String, String)| match shell {
        EnvFormat::Sh => format!("export {name}='{}'\n", value.replace('\'', r"'\''")),
        EnvFormat::Fish => {
            let value = value.replace('\\', r"\\").replace('\'', r"\'");
            format!("set -gx {name} '{value}'\n")
        }
        EnvFormat::Pwsh => format!("$env:{name} = '{}'\n", value.replace('\'', "''")),
        EnvFormat::Dotenv | EnvFormat::Json => format!("{name}={}\n", dotenv_value(value)),
    };
    variables.iter().map(line).collect()
}

/// In single quotes if a reader might change it.
fn dotenv_value(value: &str) -> String {
    if value.contains([' ', '"', '#', '$']) { format!("'{value}'") } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{EnvFormat, format_for_shell};

    #[test]
    fn each_shell_has_its_words() {
        let variables = [("LOCUM_API_KEY".to_owned(), "a'b\\c".to_owned())];
        let of = |shell| format_for_shell(&variables, shell);
        assert_eq!(of(EnvFormat::Sh), "export LOCUM_API_KEY='a'\\''b\\c'\n");
        assert_eq!(of(EnvFormat::Fish), "set -gx LOCUM_API_KEY 'a\\'b\\\\c'\n");
        assert_eq!(of(EnvFormat::Pwsh), "$env:LOCUM_API_KEY = 'a''b\\c'\n");
        assert_eq!(of(EnvFormat::Dotenv), "LOCUM_API_KEY=a'b\\c\n");
        assert!(of(EnvFormat::Json).contains(r#""LOCUM_API_KEY": "a'b\\c""#));
        let options = [("NODE_OPTIONS".to_owned(), "--require \"a b\"".to_owned())];
        assert_eq!(format_for_shell(&options, EnvFormat::Dotenv), "NODE_OPTIONS='--require \"a b\"'\n");
    }
}
