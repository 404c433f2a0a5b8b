{{/* "true" if agents show tokens to an ibpod-sm. */}}
{{- define "ibpod.tokens" -}}
{{- $host := `(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)` }}
{{- if not (regexMatch (print "^(" $host "(:[1-9][0-9]{0,4})?)?$") .Values.sm.address) }}
{{- fail (printf "sm.address: expected HOST or HOST:PORT, an IPv6 address in brackets, got %q" .Values.sm.address) }}
{{- end }}
{{- if eq .Values.agent.identity "tokens" }}
{{- if .Values.sm.address }}true
{{- else if .Values.sm.enabled }}
{{- fail "sm.address: expected the name or address by which the nodes reach ibpod-sm, HOST or HOST:PORT" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "ibpod.smPort" -}}
{{ regexFind ":[0-9]+$" .Values.sm.address | trimPrefix ":" | default "7473" }}
{{- end }}

{{/* An IPv6 address with its brackets. */}}
{{- define "ibpod.smHost" -}}
{{ regexReplaceAll ":[0-9]+$" .Values.sm.address "" }}
{{- end }}

{{/* The names and addresses in the certificate of ibpod-sm: {"ips": [], "names": []} */}}
{{- define "ibpod.smNames" -}}
{{- $ips := list }}
{{- $names := list }}
{{- range prepend .Values.sm.names (include "ibpod.smHost" . | trimAll "[]") | compact | uniq }}
{{- if regexMatch "^[0-9]+([.][0-9]+){3}$|:" . }}
{{- $ips = append $ips . }}
{{- else }}
{{- $names = append $names . }}
{{- end }}
{{- end }}
{{- toJson (dict "ips" $ips "names" $names) }}
{{- end }}

{{/* The Secret with the certificate of ibpod-sm: the user's, cert-manager's or the chart's; none with certificates alone. */}}
{{- define "ibpod.tlsSecret" -}}
{{- if .Values.sm.tlsSecret }}
{{- .Values.sm.tlsSecret }}
{{- else if .Values.certManager.issuer.name }}ibpod-sm-tls
{{- else if include "ibpod.tokens" . }}ibpod-sm-generated-tls
{{- end }}
{{- end }}

{{/* The configuration in force: the text of the values, and with tokens what it lacks for them. */}}
{{- define "ibpod.smConfig" -}}
{{- $text := required "sm.config: expected the text of an sm.json, as by --set-file sm.config=sm.json" .Values.sm.config }}
{{- $config := include "ibpod.parse" (dict "name" "sm.config" "text" $text) | fromJson }}
{{- if and (include "ibpod.tokens" .) (not (and (hasKey $config "listen") (hasKey $config "clusters"))) }}
{{- if not (hasKey $config "listen") }}
{{- $any := ternary "[::]" "0.0.0.0" (hasPrefix "[" .Values.sm.address) }}
{{- $listen := dict "address" (printf "%s:%s" $any (include "ibpod.smPort" .)) }}
{{- $_ := set $config "listen" (merge $listen (dict
      "certificate" "/etc/ibpod/tls.crt" "key" "/etc/ibpod/tls.key" "ca" "/etc/ibpod/ca.crt")) }}
{{- end }}
{{- if not (hasKey $config "clusters") }}
{{- $own := "/var/run/secrets/kubernetes.io/serviceaccount" }}
{{- $keys := dict "url" "https://kubernetes.default.svc/openid/v1/jwks" "ca" (print $own "/ca.crt") "token" (print $own "/token") }}
{{- $cluster := dict "name" "kubernetes" "issuer" .Values.sm.issuer "audience" .Values.sm.audience "keys" $keys }}
{{- $_ := set $cluster "serviceAccounts" (list (print .Release.Namespace "/ibpod-agent")) }}
{{- $_ := set $config "clusters" (list $cluster) }}
{{- end }}
{{- toPrettyJson $config }}
{{- else }}
{{- $text }}
{{- end }}
{{- end }}
