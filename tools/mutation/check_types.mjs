// Checks the types of one file at a time, for mutants of the page: `tsc` would read everything again for each of them.
// Reads {"file": PATH} from standard input, a line each, and answers {"error": MESSAGE}, which is empty when there is none.
import {createRequire} from "node:module";
import {createInterface} from "node:readline";
import {readFileSync, statSync} from "node:fs";

const web = process.argv[2];
const ts = createRequire(`${web}/package.json`)("typescript");
const config = ts.readConfigFile(`${web}/tsconfig.json`, ts.sys.readFile);
const {fileNames, options} = ts.parseJsonConfigFileContent(config.config, ts.sys, web);
const service = ts.createLanguageService({
  getScriptFileNames: () => fileNames,
  // A mutant is another file under the same name: its time and size say so.
  getScriptVersion: (name) => {
    const {mtimeMs, size} = statSync(name);
    return `${mtimeMs} ${size}`;
  },
  getScriptSnapshot: (name) => (ts.sys.fileExists(name) ? ts.ScriptSnapshot.fromString(readFileSync(name, "utf8")) : undefined),
  getCurrentDirectory: () => web,
  getCompilationSettings: () => options,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
});

for await (const line of createInterface({input: process.stdin})) {
  const {file} = JSON.parse(line);
  const [first] = [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)];
  console.log(JSON.stringify({error: first ? ts.flattenDiagnosticMessageText(first.messageText, " ") : ""}));
}
