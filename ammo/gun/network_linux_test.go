package gun

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Descriptors that run out are named, and the run goes on.
func TestDescriptorsRunOut(t *testing.T) {
	s := serve(t, func(c *conn) { c.hold() })
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	low := old
	low.Cur = uint64(openFiles() + 30) // the server's end of each connection needs one as well
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
			t.Error(err)
		}
	}()
	summary := shoot(t, s, "const(200,500ms)", magazineOf(keep), func(o *Options) {
		o.Instances = 100
		o.Timeout = 200 * 1e6
	})
	n := summary.Shots
	if none := summary.Errors["no-files"]; none < 20 || n.TimedOut < 5 || none+n.TimedOut+summary.Errors["reset"] != n.Sent {
		t.Errorf("%+v, %v", n, summary.Errors)
	}
	// What times out frees descriptors, also for later shots.
	if n.Dropped != 0 || summary.Most > 60 {
		t.Errorf("%+v, %d connections at once", n, summary.Most)
	}
}

// fewPorts tells the test binary that it runs in a network of its own.
const fewPorts = "REDOUBT_TEST_FEW_PORTS"

// Ports that run out are named. The machine's are not touched: the test runs
// once more in a network namespace, where there are 20.
func TestPortsRunOut(t *testing.T) {
	if os.Getenv(fewPorts) != "" {
		portsRunOut(t)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-test.run", "^TestPortsRunOut$", "-test.v")
	c.Env = append(os.Environ(), fewPorts+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 {
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Skipf("there is no network namespace to be had: %v", err)
	}
	err = c.Wait()
	switch text := out.String(); {
	case strings.Contains(text, "--- SKIP"):
		t.Skip(text)
	case err != nil || !strings.Contains(text, "--- PASS: TestPortsRunOut"):
		t.Errorf("%v\n%s", err, text)
	}
}

func portsRunOut(t *testing.T) {
	if err := loopbackUp(); err != nil {
		t.Skipf("the loopback device does not come up: %v", err)
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40019"), 0); err != nil {
		t.Skipf("the range of ports cannot be set: %v", err)
	}
	s := serve(t, func(c *conn) { c.hold() })
	summary := shoot(t, s, "const(200,250ms)", magazineOf(keep), func(o *Options) { o.Instances = 100; o.Timeout = 400 * 1e6 })
	// The listener may have one of them.
	none := summary.Errors["no-ports"]
	if none < 30 || none > 31 || summary.Errors["timeout"] != 50-none {
		t.Errorf("%+v, %v", summary.Shots, summary.Errors)
	}
	if !strings.Contains(OutcomeText("no-ports"), "ip_local_port_range") {
		t.Error("nobody is told what to do")
	}
}

// loopbackUp does what `ip link set lo up` does.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(request))); errno != 0 {
		return fmt.Errorf("SIOCSIFFLAGS: %w", errno)
	}
	return nil
}
