//go:build !linux

package cli

import "errors"

func (*demo) throughProxy(string) error { return errors.ErrUnsupported } // nobody calls it without a loop
