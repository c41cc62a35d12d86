// Package tail follows the feeds of events on behalf of many readers. In one process all readers of an org share one
// poll of its feed. A reader that cannot keep up reads the feed itself, from where it stopped, so that a slow reader
// costs no memory, delays no other reader and misses no event.
package tail
