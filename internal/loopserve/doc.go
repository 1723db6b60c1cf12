// Package loopserve runs the Travels API on our own event loops. It needs
// Linux.
package loopserve
