{{- define "ibpod.labels" -}}
app.kubernetes.io/component: {{ . }}
app.kubernetes.io/name: ibpod
{{- end }}

{{/* An image of values, and the chart's own version if they have no tag. */}}
{{- define "ibpod.image" -}}
{{ .image.repository }}:{{ .image.tag | default .version }}
{{- end }}

{{/* Nodes of the architectures that the images are for. */}}
{{- define "ibpod.affinity" -}}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions:
        - key: kubernetes.io/arch
          operator: In
          values:
            {{- toYaml .Values.architectures | nindent 12 }}
{{- end }}

{{/* A text with comments as JSON without them: the text of the value "name". */}}
{{- define "ibpod.parse" -}}
{{- $bare := regexReplaceAll `("(?:[^"\\]|\\.)*")|//[^\n]*|/\*(?s:.*?)\*/` .text "${1} " }}
{{- $found := fromJson $bare | default dict }}
{{- with $found.Error }}
{{- fail (printf "%s: expected a JSON object, as by --set-file %s=FILE: %s" $.name $.name .) }}
{{- end }}
{{- toJson $found }}
{{- end }}

{{/* The text of the agents' configuration: the file of manifests/base, if there is none in the values. */}}
{{- define "ibpod.agentText" -}}
{{ .Values.agent.config | default (.Files.Get "files/agent.json") }}
{{- end }}

{{/* The configuration in force: that text, and with tokens the fabric, if the text has none. */}}
{{- define "ibpod.agentConfig" -}}
{{- $text := include "ibpod.agentText" . }}
{{- $config := include "ibpod.parse" (dict "name" "agent.config" "text" $text) | fromJson }}
{{- if and (include "ibpod.tokens" .) (not (hasKey $config "fabrics")) }}
{{- $fabric := dict "service" (printf "%s:%s" (include "ibpod.smHost" .) (include "ibpod.smPort" .)) }}
{{- $_ := set $fabric "token" "/var/run/secrets/ibpod-sm/token" }}
{{- $_ := set $fabric "ca" "/var/run/secrets/ibpod-sm/ca.crt" }}
{{- with .Values.sm.config }}
{{- with (include "ibpod.parse" (dict "name" "sm.config" "text" .) | fromJson).fabric }}
{{- $_ := set $fabric "name" . }}
{{- end }}
{{- end }}
{{- set $config "fabrics" (list $fabric) | toPrettyJson }}
{{- else }}
{{- $text }}
{{- end }}
{{- end }}

{{/* The fabrics of the configuration in force. */}}
{{- define "ibpod.fabrics" -}}
{{- $config := include "ibpod.parse" (dict "name" "agent.config" "text" (include "ibpod.agentConfig" .)) | fromJson }}
{{- toJson $config.fabrics }}
{{- end }}
