// Package console serves the web console, whose sources are the TypeScript project in this directory.
//
// # Files
//
// The built files in dist are in git and embedded, so neither building nor testing this program needs Node. "npm run
// build" writes them. Each compressible file stands there with its gzip and br forms, which "go test ./api/console -run
// CompressedForms -update" writes: the compressors are in go.mod, so every machine writes the same bytes, which Node's
// versions do not.
//
// Names of assets contain a hash of their content. Browsers cache assets without expiry and ask for the shell, the HTML
// that loads them, each time.
//
// # Shell
//
// The shell is the same for every address of the console; the script in it chooses the screen. It shows the brand of
// the request's host without a flash: a style sheet with the brand's colours and a meta element with its name stand in
// the HTML. The security policy permits that style sheet by its hash, and nothing else that is inline.
package console
