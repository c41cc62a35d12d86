// Package pages serves the pages for people, each in the brand of the request's host: the API
// reference with its document, and the guides. Every page has a policy that lets it load nothing from another host.
package pages
