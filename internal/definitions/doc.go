// Package definitions finds the definitions of an org that name a tag, a stage, a custom field, a segment or a
// pipeline: filters of segments, sequences with all their versions, broadcasts, and views of people. Records that
// carry the name do not count.
//
// A renamed tag or stage is renamed in all of them in the transaction of the change. That makes no new version of a
// sequence and computes no segment anew, since filters find the contacts by both names until they have followed. What a
// definition names cannot be deleted: that is the fault in_use, which lists the definitions.
package definitions
