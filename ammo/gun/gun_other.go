//go:build !linux

package gun

import (
	"context"
	"errors"
)

// Fire needs Linux: the gun's event loops stand on epoll.
func Fire(context.Context, Options) (*Summary, error) {
	return nil, errors.New("firing needs Linux: the gun's event loops stand on epoll")
}
