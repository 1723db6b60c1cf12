# The image holds one static binary and nothing else. docs/container.md shows
# how to run it; scripts/docker.sh builds it and fires at it.
FROM golang:1.26 AS build
WORKDIR /src
# Modules first: this layer stays as long as go.mod and go.sum do.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /redoubt .

FROM scratch
COPY --from=build /redoubt /redoubt
# A scratch image has no folder for temporary files; this makes one.
WORKDIR /tmp
EXPOSE 80
ENTRYPOINT ["/redoubt"]
# Listens on :80 and reads /tmp/data, which has to be mounted.
CMD ["serve"]
