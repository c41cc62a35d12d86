// Package batch collects items for shared round trips to a server. Everything that batches uses its one type: claims,
// completions of jobs, tasks added after a commit, deliveries read together, point reads and decisions of the rate
// limiter.
package batch
