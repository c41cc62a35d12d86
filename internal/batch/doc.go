// Package batch collects items for shared round trips to a server.
package batch
