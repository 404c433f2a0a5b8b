{{- define "ibpod.labels" -}}
app.kubernetes.io/component: {{ . }}
app.kubernetes.io/name: ibpod
{{- end }}

{{/* An image of values, and the chart's own version if they have no tag. */}}
{{- define "ibpod.image" -}}
{{ .image.repository }}:{{ .image.tag | default .version }}
{{- end }}

{{/* The configuration in force: the file of manifests/base, if there is none in the values. */}}
{{- define "ibpod.agentConfig" -}}
{{ .Values.agent.config | default (.Files.Get "files/agent.json") }}
{{- end }}
