// Package browser opens every page that the built binary serves in Chromium. It is a module of its own, so that the
// browser's driver is not in the service's go.mod.
package browser
