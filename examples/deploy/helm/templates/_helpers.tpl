{{- define "vitrine.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "vitrine.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "vitrine.labels" -}}
{{ include "vitrine.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "vitrine.secret" -}}
{{- .Values.secret.existing | default (include "vitrine.name" .) -}}
{{- end -}}

{{/* Fails for what would lose the sessions of clients, or serve nothing. */}}
{{- define "vitrine.check" -}}
{{- $several := or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled -}}
{{- if and $several (not (get .Values.config "bus")) (not .Values.withoutBus) -}}
{{- fail "Several replicas need config.bus, as in redis://:${BUS_PASSWORD}@valkey:6379; withoutBus: true goes without it, for clients of 2026-07-28 alone" -}}
{{- end -}}
{{- if not (or (get .Values.config "mounts") (get .Values.config "mcpServers")) -}}
{{- fail "config.mounts says what is served, and there is nothing in it" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.host says which name the ingress is for" -}}
{{- end -}}
{{- end -}}
